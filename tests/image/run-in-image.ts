import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Image } from './build-image.ts';

export type Started = {
  args: string[];
  env: Record<string, string>;
  input?: string;
  /** In the place of the image's own. */
  user?: string;
};

/**
 * Arguments: root, working folder, user, group, command. The file system is read-only to the last file, and no shell stays
 * between: the pid and the signals are the program's own.
 */
const LAUNCH = `
mount() { /usr/bin/mount "$@" || exit 1; }
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount -t proc proc "$1/proc"
mount --bind /dev "$1/dev"
root=$1 folder=$2 user=$3 group=$4
shift 4
exec /usr/bin/unshare --root="$root" --wd="$folder" --setgid="$group" --setuid="$user" "$@"
`;

/** What to run for a process of that image, as an engine would with `--read-only`: its user, its folder, its environment. */
export function inImage({ root, config }: Image, { args, env, user: asked = config.User }: Started) {
  const [user = '', group = ''] = asked.split(':');
  const launch = ['--mount', '/bin/sh', '-c', LAUNCH, 'sh', root, config.WorkingDir, user, group];
  return {
    command: '/usr/bin/unshare',
    args: [...launch, ...args],
    env: { ...Object.fromEntries(config.Env.map((entry) => entry.split(/=(.*)/s, 2))), ...env },
  };
}

/** Runs a command of that image to its end. */
export async function runInImage(image: Image, started: Started) {
  const { command, args, env } = inImage(image, started);
  const child = spawn(command, args, { env });
  child.stdin.on('error', () => undefined);
  child.stdin.end(started.input ?? '');
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout: stdout.trim(), stderr };
}
