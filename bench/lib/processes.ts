/**
 * CPU and wake-ups of parts, read from /proc, so on Linux alone. A part is processes, and what they started:
 *
 * | read | between two readings |
 * |---|---|
 * | `cpuOf`: µs so far, in steps of a tick, which is 10 ms on most machines | `cpuBetween` |
 * | `wakeUpsOf`: voluntary context switches of each thread so far | `wakeUpsBetween` |
 */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The processes of one part, by the pids of their roots. */
export type Parts = Record<string, readonly number[]>;

/** CPU that each part has used so far, in microseconds, the kernel's work for it included. */
export type CpuMicros = Record<string, number>;

/** How often each thread of each part has gone to sleep by itself so far, and woken again: its voluntary context switches. */
type WakeUps = Record<string, ReadonlyMap<string, number>>;

let ticksPerSecond: number | undefined;

export function cpuOf(parts: Parts): CpuMicros {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK']).toString());
  const microsPerTick = 1_000_000 / ticksPerSecond;
  const processes = readProcesses();
  const ticksOf = (pid: number) => {
    const { ownTicks = 0, buriedTicks = 0 } = processes.get(pid) ?? {};
    return ownTicks + buriedTicks;
  };
  return Object.fromEntries(
    Object.entries(withDescendants(parts, processes)).map(([part, pids]) => [
      part,
      pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * microsPerTick,
    ]),
  );
}

/** Returns the CPU used between two readings. */
export function cpuBetween(before: CpuMicros, after: CpuMicros): CpuMicros {
  return Object.fromEntries(Object.entries(after).map(([part, micros]) => [part, micros - (before[part] ?? 0)]));
}

/** Watches for so long how busy parts are; resolves with the CPU of each, in % of a core. */
export async function percentOfCore(parts: Parts, forMs: number): Promise<Record<string, number>> {
  const [before, beganMs] = [cpuOf(parts), performance.now()];
  await sleep(forMs);
  const micros = cpuBetween(before, cpuOf(parts));
  const percentPerMicro = 100 / ((performance.now() - beganMs) * 1_000);
  return Object.fromEntries(Object.entries(micros).map(([part, used]) => [part, used * percentPerMicro]));
}

export function total(cpu: CpuMicros): number {
  return Object.values(cpu).reduce((sum, micros) => sum + micros, 0);
}

/** The whole, without the receiver and the publisher: a contender is measured by these. */
export function totalOfOwn({ receiver: _receiver, publisher: _publisher, ...own }: CpuMicros): number {
  return total(own);
}

/** Reads them of all threads that run now. */
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

/** The same parts with all their pids: those of the roots that still run, and of what these started. */
export function withDescendants(parts: Parts, processes: ReadonlyMap<number, Pick<Process, 'parent'>>): Parts {
  const children = Map.groupBy(processes.keys(), (pid) => processes.get(pid)?.parent);
  const treeOf = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(treeOf)];
  return Object.fromEntries(
    Object.entries(parts).map(([part, roots]) => [part, roots.filter((pid) => processes.has(pid)).flatMap(treeOf)]),
  );
}

/** CPU in ticks: its own, and that of ended children which it has waited for. */
type Process = { parent: number; ownTicks: number; buriedTicks: number };

/** All processes of this machine by their pids. */
function readProcesses(): Map<number, Process> {
  const processes = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    const process = /^\d+$/.test(name) ? readProcess(name) : undefined;
    if (process !== undefined) processes.set(Number(name), process);
  }
  return processes;
}

function readProcess(pid: string): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command's name in parentheses and may hold anything, so count from its end.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent, user, system, childrenUser, childrenSystem] = [1, 11, 12, 13, 14].map((at) => fields[at] ?? 0);
    return {
      parent: parent ?? 0,
      ownTicks: (user ?? 0) + (system ?? 0),
      buriedTicks: (childrenUser ?? 0) + (childrenSystem ?? 0),
    };
  } catch {
    // It ended in between.
    return undefined;
  }
}
