import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';

type Lock = { packages: Record<string, { version?: string; license?: string; integrity?: string }> };

/** A component of a CycloneDX document. */
export type Component = {
  type: 'library';
  group?: string;
  name: string;
  version: string;
  scope: 'excluded';
  purl: string;
  hashes: { alg: 'SHA-512'; content: string }[];
};

const ROOT = 'node_modules/';

/** Node and pnpm as deploy/toolchain pins them: an image is built with them, and a checkout runs by them. */
export function toolchainComponents(): Component[] {
  const lock = JSON.parse(readFileSync(join(repository, 'deploy/toolchain/package-lock.json'), 'utf8')) as Lock;
  return Object.entries(lock.packages).flatMap(([path, { version = '', integrity = '' }]) => {
    if (!path.startsWith(ROOT)) return [];
    const [name = '', group] = path.slice(ROOT.length).split('/').toReversed();
    const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    const purl = `pkg:npm/${group === undefined ? '' : `${encodeURIComponent(group)}/`}${name}@${version}`;
    const hashes = [{ alg: 'SHA-512' as const, content }];
    return [{ type: 'library', ...(group && { group }), name, version, scope: 'excluded', purl, hashes }];
  });
}
