import { readdirSync, readFileSync } from 'node:fs';
import { readProcesses, withDescendants, type Parts } from './processes.ts';

/** How often each thread of each part has gone to sleep by itself so far, and woken again: its voluntary context switches. */
export type WakeUps = Record<string, ReadonlyMap<string, number>>;

/** Reads them of all threads that run now. Needs /proc, so Linux. */
export function wakeUpsOf(parts: Parts): WakeUps {
  const all = withDescendants(parts, readProcesses());
  return Object.fromEntries(Object.entries(all).map(([part, pids]) => [part, new Map(pids.flatMap(readThreads))]));
}

/** Wake-ups of each part between two readings; what threads did that ended meanwhile is not known, and left out. */
export function wakeUpsBetween(before: WakeUps, after: WakeUps): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([part, threads]) => [
      part,
      [...threads].reduce((sum, [thread, count]) => sum + count - (before[part]?.get(thread) ?? 0), 0),
    ]),
  );
}

function readThreads(pid: number): [thread: string, count: number][] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => readThread(`${pid}/task/${thread}`));
  } catch {
    // It ended in between.
    return [];
  }
}

function readThread(thread: string): [[thread: string, count: number]] | [] {
  try {
    const status = readFileSync(`/proc/${thread}/status`, 'utf8');
    return [[thread, Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])]];
  } catch {
    return [];
  }
}
