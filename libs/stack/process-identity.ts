import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** One process and no later one that got the same pid: the pid with the moment at which it began. */
export type ProcessIdentity = { pid: number; began: string };

/** Undefined when no such process lives (a zombie does not). */
export function identify(pid: number): ProcessIdentity | undefined {
  const began = existsSync('/proc/self/stat') ? beganByProc(pid) : beganByPs(pid);
  return began === undefined ? undefined : { pid, began };
}

export function isAlive(identity: ProcessIdentity | undefined): boolean {
  return identity !== undefined && identify(identity.pid)?.began === identity.began;
}

/** Asks the process to stop, and kills it with its group when it has not after `graceMs`. Resolves when it is gone. */
export async function terminate(
  identity: ProcessIdentity,
  { signal = 'SIGTERM', graceMs }: { signal?: NodeJS.Signals; graceMs: number },
): Promise<void> {
  if (!isAlive(identity)) return;
  signalQuietly(identity.pid, signal);
  if (await untilGone(identity, graceMs)) return;
  signalQuietly(-identity.pid, 'SIGKILL');
  signalQuietly(identity.pid, 'SIGKILL');
  await untilGone(identity, 5_000);
}

/** Whether the process is gone within `limitMs`. */
export async function untilGone(identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await pause(50);
  }
  return true;
}

/** Sends a signal; a process that is already gone is fine. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone, which is what the signal is for.
  }
}

let bootId: string | undefined;

function beganByProc(pid: number): string | undefined {
  try {
    bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command's name in parentheses and may hold anything, so count from its end.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : `${bootId}-${rest[18]}`;
  } catch {
    return undefined;
  }
}

function beganByPs(pid: number): string | undefined {
  try {
    const answer = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [state, ...began] = answer.toString().trim().split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : began.join(' ');
  } catch {
    return undefined;
  }
}
