import { readFileSync } from 'node:fs';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';

const LOOK_INTERVAL_MS = 500;

/** The most memory that any of these processes had resident while it was watched, over restarts. */
export function watchMemory(processes: readonly SupervisedProcess[]): Disposable & { megabytes: () => number } {
  let kilobytes = 0;
  const look = () => {
    for (const { identity } of processes) kilobytes = Math.max(kilobytes, identity ? peakKilobytes(identity.pid) : 0);
    return Math.round(kilobytes / 1_024);
  };
  const timer = setInterval(look, LOOK_INTERVAL_MS);
  return { megabytes: look, [Symbol.dispose]: () => clearInterval(timer) };
}

/** The most memory that each of these processes had resident since it began, for people to read. */
export function peaksOf(processes: readonly SupervisedProcess[]): string {
  const each = processes.map(({ spec, identity }) => {
    return `${spec.name} ${Math.round((identity ? peakKilobytes(identity.pid) : 0) / 1_024)} MB`;
  });
  return `most resident: ${each.join(', ')}`;
}

/** The kernel keeps the peak of a process that lives. */
function peakKilobytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
