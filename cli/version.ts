import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import manifest from '../package.json' with { type: 'json' };

/** `0.1.0 (80ac123)`: the version, and the commit where this is a checkout of git. */
export function versionHere(): string {
  const commit = commitHere();
  return commit === undefined ? manifest.version : `${manifest.version} (${commit})`;
}

/** `80ac123`; undefined where this is no checkout of git. */
export function commitHere(): string | undefined {
  // Asked without one, git would answer for a checkout around this folder.
  if (!existsSync(join(repository, '.git'))) return undefined;
  const { status, stdout } = spawnSync('git', ['-C', repository, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
