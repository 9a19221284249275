import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { signalQuietly } from '@waybell/stack/process-identity';

const EVERY_MS = 1_000;
const STOPPED_MS = { least: 500, most: 8_000 };
const BUSY = 4;

/**
 * A bad day for a test run: once a second one process that this one has started, by whatever way, stands still for half a
 * second to eight, and busy loops take the cores. What a test then finds wrong is not its machine's doing but its own.
 */
export function disturb(report: (line: string) => void): Disposable {
  const busy = Array.from({ length: BUSY }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  const spared = new Set(busy.map(({ pid }) => pid));
  const stopped = new Set<number>();
  let times = 0;
  const goOn = (pid: number) => {
    stopped.delete(pid);
    signalQuietly(pid, 'SIGCONT');
  };
  const stopOne = () => {
    const running = descendantsOf(process.pid).filter((pid) => !spared.has(pid) && !stopped.has(pid));
    const pid = running[Math.floor(Math.random() * running.length)];
    if (pid === undefined) return;
    times += 1;
    stopped.add(pid);
    signalQuietly(pid, 'SIGSTOP');
    setTimeout(goOn, STOPPED_MS.least + Math.random() * (STOPPED_MS.most - STOPPED_MS.least), pid);
  };
  const ticking = setInterval(stopOne, EVERY_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(ticking);
      for (const pid of stopped) goOn(pid);
      for (const child of busy) child.kill('SIGKILL');
      report(`processes of the run were stopped ${times} times`);
    },
  };
}

/** Pids of all processes that this one, or one that it started, has started. */
function descendantsOf(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(name));
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === ancestor || isOurs(parents.get(pid)));
  return [...parents.keys()].filter((pid) => pid !== ancestor && isOurs(pid));
}

/** 0 where the process is gone. */
function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name, in parentheses, may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
