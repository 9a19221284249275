import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@waybell/stack/stack-folder';

const SOURCES = join(import.meta.dirname, 'collector');
const CACHE = join(cacheFolder(), 'collector');

/**
 * Builds the collector, of pinned versions, where it was not built before; resolves with its path. Takes minutes the first
 * time. Throws where there is no Go.
 */
export async function buildCollector(): Promise<string> {
  const identity = createHash('sha256');
  for (const name of ['main.go', 'go.sum']) identity.update(readFileSync(join(SOURCES, name)));
  const built = join(CACHE, identity.digest('hex').slice(0, 16));
  if (existsSync(built)) return built;
  await mkdir(CACHE, { recursive: true });
  const unfinished = `${built}.${process.pid}`;
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', unfinished, '.'];
  await promisify(execFile)('go', args, { cwd: SOURCES });
  await rename(unfinished, built);
  return built;
}
