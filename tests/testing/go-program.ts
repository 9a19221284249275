import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@waybell/stack/stack-folder';
import { moduleSource } from './module-source.ts';

/** A program of a module whose go.mod replaces or excludes others, which `go install` refuses. */
export type ModuleProgram = {
  module: string;
  version: string;
  /** Path of its package, in the module. */
  path: string;
  /** The variable that has to be told its version. */
  stamped: string;
};

/** Arguments: the module's sources, path in them, binary, flags of the linker. Builds in a copy, which may be written to; one at a time. */
const BUILD = `
set -e
mkdir -p "$(dirname "$3")"
exec 9>"$3.lock"
flock 9
[ ! -e "$3" ] || exit 0
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
cp -r "$1" "$draft/source"
chmod -R u+w "$draft/source"
cd "$draft/source"
CGO_ENABLED=0 go build -ldflags "$4" -o "$3.draft" "./$2"
mv "$3.draft" "$3"
`;

/**
 * The path of a program of Go, such as `github.com/rhysd/actionlint/cmd/actionlint@v1.7.12`; built the first time, by the
 * `go` on the path. Rejects where there is none.
 */
export async function goProgram(program: string | ModuleProgram): Promise<string> {
  if (typeof program !== 'string') return builtFrom(program);
  const folder = folderOf(program);
  const binary = join(folder, basename(program).replace(/@.*/, ''));
  if (!existsSync(binary))
    await promisify(execFile)('go', ['install', program], { env: { ...process.env, GOBIN: folder } });
  return binary;
}

async function builtFrom({ module, version, path, stamped }: ModuleProgram): Promise<string> {
  const binary = join(folderOf(`${module}@${version}`), basename(path));
  if (existsSync(binary)) return binary;
  const source = await moduleSource(module, version);
  await promisify(execFile)('sh', ['-c', BUILD, 'sh', source, path, binary, `-X ${stamped}=${version}`], {
    maxBuffer: 2 ** 26,
  });
  return binary;
}

const folderOf = (name: string): string => join(cacheFolder(), 'go', name.replaceAll('/', '_'));
