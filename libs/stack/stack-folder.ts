import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this checkout. */
export const repository = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** The folder of one stack's data, logs, secrets and state. Two stacks have two folders and nothing in common. */
export type StackFolder = {
  home: string;
  /** Eight hex digits of the path: a name for what must be unique on the machine. */
  id: string;
  logs: string;
  stateFile: string;
  lockFile: string;
  recordFile: string;
};

export function stackFolder(home: string): StackFolder {
  const path = resolve(home);
  return {
    home: path,
    id: createHash('sha256').update(path).digest('hex').slice(0, 8),
    logs: join(path, 'logs'),
    stateFile: join(path, 'state.json'),
    lockFile: join(path, 'supervisor.lock'),
    recordFile: join(path, 'stack.json'),
  };
}

/** The stack that a command means: the one in `WAYBELL_HOME`, else the checkout's own. */
export function stackOf(env: NodeJS.ProcessEnv): StackFolder {
  return stackFolder(env['WAYBELL_HOME'] || join(repository, '.waybell'));
}

/**
 * Makes the folders. Others may pass through them, because Postgres runs as another user under root, but not list them; an
 * existing folder with something in it keeps its rights.
 */
export function makeFolders(folder: StackFolder): void {
  if (existsSync(folder.home) && readdirSync(folder.home).length === 0) chmodSync(folder.home, 0o711);
  for (const path of [folder.home, folder.logs]) mkdirSync(path, { recursive: true, mode: 0o711 });
}

export function logFileOf(folder: StackFolder, process: string): string {
  return join(folder.logs, `${process}.log`);
}

/** Renames the last run's log to `<name>.log.1`. */
export function rotateLog(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.1`);
}

/** Replaces a file in one step, readable by its owner only. */
export function writePrivately(path: string, content: string): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

/** Returns the folder for downloads that all checkouts of a user share, such as the toolchain. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'waybell');
}
