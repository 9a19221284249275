import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@waybell/stack/stack-folder';
import { moduleSource } from '../testing/module-source.ts';

const MODULE = 'k8s.io/kubernetes';
const VERSION = 'v1.37.2';
const PACKAGES = ['k8s.io/kubernetes/cmd/kube-apiserver', 'go.etcd.io/etcd/server/v3'];

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

/** The folder with `kube-apiserver` and etcd's `server`. Needs Go, and the first time minutes. */
export async function kubernetesPrograms(): Promise<string> {
  const folder = join(cacheFolder(), `go-kubernetes-${VERSION}`);
  if (existsSync(folder)) return folder;
  const source = await moduleSource(MODULE, VERSION);
  const goMod = `module waybell.example/kubernetes\ngo 1.26.0\nrequire ${MODULE} ${VERSION}\n${replacements(source)}`;
  await promisify(execFile)('sh', ['-c', BUILD, 'sh', folder, goMod, `-s -w ${stamp()}`, ...PACKAGES], {
    maxBuffer: 2 ** 26,
  });
  return folder;
}

/** It says which version it is only where the linker tells it. */
function stamp(): string {
  const [, minor] = VERSION.split('.');
  const told = Object.entries({ gitVersion: VERSION, gitMajor: '1', gitMinor: minor });
  return told.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`).join(' ');
}

/** Kubernetes has parts of itself in a folder that its module leaves out: they are modules too, of the same minor version. */
function replacements(source: string): string {
  const parts = readFileSync(join(source, 'go.mod'), 'utf8').matchAll(/(k8s\.io\/[\w-]+) => \.\/staging\//g);
  return [...parts].map(([, part]) => `replace ${part} => ${part} ${VERSION.replace(/^v1/, 'v0')}\n`).join('');
}
