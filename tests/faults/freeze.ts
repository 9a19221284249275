import { readdirSync, readFileSync } from 'node:fs';
import { requireProgram, type SupervisedProcess } from '@waybell/stack/supervised-process';

/** Has a process and all that it started stand still; what it returns lets them go on. */
export function freeze({ spec, identity }: Pick<SupervisedProcess, 'spec' | 'identity'>): () => void {
  requireProgram(spec);
  if (identity === undefined) throw new Error(`${spec.name} does not run`);
  const frozen: number[] = [];
  // Parents first: frozen, they start no more.
  for (const next = [identity.pid]; next.length > 0;) {
    const pid = next.shift() ?? 0;
    if (signal(pid, 'SIGSTOP')) frozen.push(pid);
    next.push(...childrenOf(pid));
  }
  return () => frozen.forEach((pid) => signal(pid, 'SIGCONT'));
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => parentOf(pid) === parent)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    // The name, in parentheses, may have anything in it; then come the state and the parent.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.split(' ')[2]);
  } catch {
    return undefined;
  }
}

/** False where it is gone. */
function signal(pid: number, how: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, how);
  } catch {
    return false;
  }
}
