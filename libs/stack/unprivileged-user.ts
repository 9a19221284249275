import { spawnSync } from 'node:child_process';

/** A user of this machine, by number. */
export type User = { name: string; uid: number; gid: number };

/** Postgres refuses to run as root: the user it runs as instead. Undefined when the caller is not root. */
export function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => idOf(flag, name));
    if (uid !== undefined && gid !== undefined) return { name, uid, gid };
  }
  throw new Error('Postgres does not run as root, and this machine has neither a user "postgres" nor "nobody"');
}

/** Whether that user may enter the folder: every folder above it counts too. */
export function canEnter(path: string, user: User): boolean {
  const { uid, gid } = user;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', path], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

function idOf(flag: string, name: string): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}
