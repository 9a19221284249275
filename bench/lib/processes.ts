import { readdirSync, readFileSync } from 'node:fs';

/** The processes of one part, by the pids of their roots: what they started counts too. */
export type Parts = Record<string, readonly number[]>;

/** CPU in ticks: its own, and that of ended children which it has waited for. */
export type Process = { parent: number; ownTicks: number; buriedTicks: number };

/** All processes of this machine by their pids. Needs /proc, so Linux. */
export function readProcesses(): Map<number, Process> {
  const processes = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    const process = /^\d+$/.test(name) ? readProcess(name) : undefined;
    if (process !== undefined) processes.set(Number(name), process);
  }
  return processes;
}

/** The same parts with all their pids: those of the roots that still run, and of what these started. */
export function withDescendants(parts: Parts, processes: ReadonlyMap<number, Pick<Process, 'parent'>>): Parts {
  const children = Map.groupBy(processes.keys(), (pid) => processes.get(pid)?.parent);
  const treeOf = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(treeOf)];
  return Object.fromEntries(
    Object.entries(parts).map(([part, roots]) => [part, roots.filter((pid) => processes.has(pid)).flatMap(treeOf)]),
  );
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
