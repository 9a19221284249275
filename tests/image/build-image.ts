import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseImage } from './base-image.ts';
import { buildahIn } from './buildah.ts';

export type Image = {
  /** Where its files are. */
  root: string;
  config: ImageConfig;
};

/** As the image says it: what an engine starts it with. */
export type ImageConfig = {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  WorkingDir: string;
  Labels: Record<string, string>;
  Healthcheck: { Test: string[] };
};

export const REVISION = '0123456789abcdef0123456789abcdef01234567';

/** Builds deploy/Dockerfile as `docker build` does, in that folder, which the caller removes. */
export async function buildImage(folder: string): Promise<Image> {
  const buildah = buildahIn(folder);
  const npmrc = join(folder, 'npmrc');
  writeFileSync(npmrc, `registry=${execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })}`);
  const given = {
    NODE_IMAGE: await baseImage(buildah),
    VERSION: '1.2.3',
    REVISION,
    SOURCE: 'https://example.com/waybell',
  };
  const how = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--secret', `id=npmrc,src=${npmrc}`];
  const settings = Object.entries(given).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  await buildah('bud', ...how, ...settings, '--file', 'deploy/Dockerfile', '--tag', 'localhost/waybell', '.');
  // The shape is buildah's.
  const inspected = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/waybell')) as {
    Docker: { config: ImageConfig };
  };
  const root = await buildah('mount', await buildah('from', '--pull-never', 'localhost/waybell'));
  return { root, config: inspected.Docker.config };
}

/** Gives it what every engine adds to an image before it starts a process. */
export function asEngineDoes({ root }: Image): void {
  for (const name of ['proc', 'dev']) mkdirSync(join(root, name));
  for (const name of ['hosts', 'resolv.conf']) copyFileSync(join('/etc', name), join(root, 'etc', name));
}
