import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, repository } from '@waybell/stack/stack-folder';
import { installPackages, runAsRoot } from '@waybell/stack/programs';
import type { Engine } from './engine.ts';

const RELEASES = ['bookworm', 'trixie'];

/** The names of the images that the product and its tests take from a registry, by their target of stand-ins/Dockerfile. */
const IMAGES = {
  debian: 'debian:12',
  node: 'node:26-slim',
  redis: 'redis:7',
  postgres: 'postgres:15',
  rabbitmq: 'rabbitmq:4.0',
  reaper: 'testcontainers/ryuk:0.14.0',
};

/** Arguments: folder, releases of Debian. One at a time, and the folder appears only when all is in it. */
const UNPACK = `
set -e
folder=$1
shift
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
[ ! -e "$folder" ] || exit 0
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
[ -n "$mirror" ] || { echo 'the machine has no mirror of Debian among its package sources' >&2; exit 1; }
rm -rf --one-file-system "$folder.draft"
mkdir "$folder.draft"
for release in "$@"; do
  unshare --mount debootstrap --variant=minbase "$release" "$folder.draft/$release" "$mirror"
  rm -rf "$folder.draft/$release"/var/cache/apt/archives/*.deb "$folder.draft/$release"/var/lib/apt/lists/*
done
npm install --global --no-audit --no-fund --prefix "$folder.draft/npm" npm@11
mv "$folder.draft" "$folder"
`;

/**
 * Makes the images that stand for a registry's, in a private engine, which reaches none. It takes root on a Debian, for the
 * base of each. What an earlier run made is taken.
 */
export async function makeStandIns(engine: Engine): Promise<void> {
  const bases = join(cacheFolder(), 'docker-bases');
  const notes: string[] = [];
  const report = (line: string) => void notes.push(line);
  const isThere =
    (await installPackages(['debootstrap'], report)) &&
    (await runAsRoot({ script: UNPACK, args: [bases, ...RELEASES], title: 'unpacking Debian', report }));
  if (!isThere) throw new Error(`the images cannot be made on this machine:\n${notes.join('\n')}`);
  for (const release of RELEASES) await importBase(engine, join(bases, release), `debian-bare:${release}`);
  const context = mkdtempSync(join(tmpdir(), 'waybell-stand-ins-'));
  try {
    cpSync(join(repository, 'tests/docker/stand-ins'), context, { recursive: true });
    cpSync(join(bases, 'npm'), join(context, 'npm'), { recursive: true, verbatimSymlinks: true });
    copyFileSync(process.execPath, join(context, 'node'));
    copyFileSync(authorities(), join(context, 'ca-certificates.crt'));
    for (const [target, name] of Object.entries(IMAGES))
      await build(engine, context, '--target', target, '--tag', name);
  } finally {
    rmSync(context, { recursive: true });
  }
}

/** Builds an image; packages are reached by the engine's own network, as a private one has no other. */
export async function build(engine: Engine, context: string, ...options: string[]): Promise<void> {
  // Named explicitly: Debian's client takes the builder before it.
  await engine.docker('buildx', 'build', '--network', 'host', ...options, context);
}

/** Registries of packages may be vouched for by an authority that only this machine knows. */
const authorities = (): string => process.env['NODE_EXTRA_CA_CERTS'] ?? '/etc/ssl/certs/ca-certificates.crt';

async function importBase(engine: Engine, folder: string, name: string): Promise<void> {
  if ((await engine.docker('images', '--quiet', name)) !== '') return;
  await engine.inside('sh', ['-c', 'tar -C "$1" -c . | docker import - "$2"', 'sh', folder, name]);
}
