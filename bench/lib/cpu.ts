import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** The processes of one part, by the pids of their roots: what they started counts too. */
export type Parts = Record<string, readonly number[]>;

/** CPU that each part has used so far, in microseconds, the kernel's work for it included. */
export type CpuMicros = Record<string, number>;

type Process = { parent: number; ownTicks: number; buriedTicks: number };

let ticksPerSecond: number | undefined;

/** Reads what parts have used; in steps of a tick, which is 10 ms on most machines. Needs /proc, so Linux. */
export function cpuOf(parts: Parts): CpuMicros {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK']).toString());
  const microsPerTick = 1_000_000 / ticksPerSecond;
  const processes = readProcesses();
  const children = Map.groupBy(processes.keys(), (pid) => processes.get(pid)?.parent);
  const ticksOf = (pid: number): number => {
    const { ownTicks = 0, buriedTicks = 0 } = processes.get(pid) ?? {};
    return ownTicks + buriedTicks + (children.get(pid) ?? []).reduce((sum, child) => sum + ticksOf(child), 0);
  };
  return Object.fromEntries(
    Object.entries(parts).map(([part, pids]) => [
      part,
      pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * microsPerTick,
    ]),
  );
}

/** Returns the CPU used between two readings. */
export function cpuBetween(before: CpuMicros, after: CpuMicros): CpuMicros {
  return Object.fromEntries(Object.entries(after).map(([part, micros]) => [part, micros - (before[part] ?? 0)]));
}

export function total(cpu: CpuMicros): number {
  return Object.values(cpu).reduce((sum, micros) => sum + micros, 0);
}

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
