import { join } from 'node:path';
import { cacheFolder } from '@waybell/stack/cache-folder';
import { installPackages } from '@waybell/stack/install-packages';
import { runAsRoot } from '@waybell/stack/run-as-root';
import type { Buildah } from './buildah.ts';

/** The release of Debian that is unpacked. */
const RELEASE = 'trixie';

/** Arguments: folder, release. One at a time, and the folder appears only when all is in it. */
const UNPACK = `
set -e
exec 9>"$1.lock"
flock 9
[ ! -e "$1" ] || exit 0
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
[ -n "$mirror" ] || { echo 'the machine has no mirror of Debian among its package sources' >&2; exit 1; }
rm -rf --one-file-system "$1.draft"
unshare --mount debootstrap --variant=minbase --include=libatomic1,libstdc++6 "$2" "$1.draft" "$mirror"
npm install --global --no-audit --no-fund --prefix "$1.draft/usr/local" npm@11
rm -rf "$1.draft"/var/cache/apt/archives/*.deb "$1.draft"/var/lib/apt/lists/*
mv "$1.draft" "$1"
`;

/**
 * Makes what stands for the official image of Node.js where no registry of images is reached: Debian, npm, and the Node.js
 * that runs this, in the same places. Resolves with its name. Throws where the machine is no Debian with root.
 */
export async function baseImage(buildah: Buildah): Promise<string> {
  const folder = join(cacheFolder(), `image-base-${RELEASE}`);
  const notes: string[] = [];
  const report = (line: string) => void notes.push(line);
  const isThere =
    (await installPackages(['buildah', 'debootstrap'], report)) &&
    (await runAsRoot({ script: UNPACK, args: [folder, RELEASE], title: `unpacking ${RELEASE}`, report }));
  if (!isThere) throw new Error(`the image cannot be built on this machine:\n${notes.join('\n')}`);
  const name = 'localhost/node';
  const container = await buildah('from', 'scratch');
  await buildah('copy', '--quiet', container, folder, '/');
  await buildah('copy', '--quiet', container, process.execPath, '/usr/local/bin/node');
  await buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container);
  await trustSameAuthorities(buildah, container);
  await buildah('commit', '--rm', '--quiet', container, name);
  return name;
}

/** The registry of packages may be vouched for by an authority that only this machine knows. */
async function trustSameAuthorities(buildah: Buildah, container: string): Promise<void> {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined) return;
  const path = '/etc/ssl/certs/ca-certificates.crt';
  await buildah('copy', '--quiet', container, file, path);
  await buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${path}`, '--env', `SSL_CERT_FILE=${path}`, container);
}
