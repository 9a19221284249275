import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type GoPrograms = {
  /** Of the folder in the user's cache: what is in there is built once. */
  name: string;
  module: string;
  version: string;
  /** Their packages. A program is named after the last part of its package's path. */
  packages: readonly string[];
  ldflags?: string;
};

/** Arguments: folder, go.mod, flags of the linker, packages. One at a time, and the folder appears only when all is in it. */
const BUILD = `
set -e
folder=$1 module=$2 ldflags=$3
shift 3
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
[ ! -e "$folder" ] || exit 0
rm -rf "$folder.draft"
mkdir -p "$folder.draft/source"
cd "$folder.draft/source"
printf '%s' "$module" >go.mod
go get "$@"
go build -ldflags "$ldflags" -o .. "$@"
mv "$folder.draft" "$folder"
`;

/** Builds programs of a Go module by its proxy, and resolves with the folder that has them. Needs Go, and the first time minutes. */
export async function goPrograms({ name, module, version, packages, ldflags = '' }: GoPrograms): Promise<string> {
  const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'waybell', `go-${name}-${version}`);
  if (existsSync(folder)) return folder;
  const source = await moduleSource(module, version);
  const goMod = `module waybell.example/${name}\ngo 1.26.0\nrequire ${module} ${version}\n${await replacements(source, version)}`;
  const args = ['-c', BUILD, 'sh', folder, goMod, `-s -w ${ldflags}`, ...packages];
  await run('sh', args, { maxBuffer: 2 ** 26 });
  return folder;
}

/** The folder with a module's sources. */
export async function moduleSource(module: string, version: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`], { maxBuffer: 2 ** 26 });
  return String(JSON.parse(stdout).Dir);
}

/** Kubernetes has parts of itself in a folder that its module leaves out: they are modules too, of the same minor version. */
async function replacements(source: string, version: string): Promise<string> {
  const parts = readFileSync(join(source, 'go.mod'), 'utf8').matchAll(/(k8s\.io\/[\w-]+) => \.\/staging\//g);
  return [...parts].map(([, part]) => `replace ${part} => ${part} ${version.replace(/^v1/, 'v0')}\n`).join('');
}
