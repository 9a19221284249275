import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcesses, withDescendants, type Parts } from './processes.ts';

/** CPU that each part has used so far, in microseconds, the kernel's work for it included. */
export type CpuMicros = Record<string, number>;

let ticksPerSecond: number | undefined;

/** Reads what parts have used; in steps of a tick, which is 10 ms on most machines. Needs /proc, so Linux. */
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
