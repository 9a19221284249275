import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buildConsole } from '@waybell/stack/build-console';
import { signalQuietly } from '@waybell/stack/process-identity';
import { browserMachine, CHROMIUM, findChromium, NoChromium } from '@waybell/stack/programs';
import { repository } from '@waybell/stack/stack-folder';
import { plainText, report } from '../print.ts';
import type { TestFile } from './find-tests.ts';
import { lendServers } from './lend-servers.ts';
import { Progress, runJest, type FileEvent, type JestResult, type JestRun, type TestCounts } from './run-jest.ts';
import { describeCosts, keepCosts, overBudget, readBudgets } from './test-costs.ts';

type TestRun = {
  tests: TestFile[];
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Stops processes of the run at random while it goes on, and keeps the cores busy. */
  isDisturbed?: boolean;
  /** See run-jest.ts. */
  patienceMs?: number | undefined;
};

type TestRunResult = { first: JestResult; again: TestCounts; notes: string[] };

type Rerun = JestRun & { note: (line: string) => void };

/** Output of jest and of the processes of tests. */
const LOG = join(repository, '.waybell', 'test.log');

/** Runs these tests, with one set of servers where any of them needs servers, and a browser likewise. Says how far it is, and what it took. */
export async function runTests(run: TestRun): Promise<TestCounts> {
  rmSync(LOG, { force: true });
  const before = childSeconds();
  const { first, again, notes } = await runOnServers(run);
  const all = childSeconds() - before;
  report(['what it took, in seconds:', ...describeCosts(first.costs, all)].join('\n'));
  // Not where random tests try more, or processes are stopped under them.
  const isUsual = run.env['TEST_RUNS'] === '1' && run.isDisturbed !== true;
  if (isUsual) keepCosts(first.costs);
  const over = isUsual && notes.length === 0 ? overBudget(first.costs, readBudgets()) : [];
  for (const line of over) report(`${line}: see CONTRIBUTING.md, "Budgets"`);
  if (notes.length > 0) report(['tried again:', ...notes].join('\n  '));
  const counts = { passed: first.passed + again.passed, failed: first.failed + again.failed + over.length };
  if (counts.failed > 0) report(`jest and the processes of tests printed to ${relative(process.cwd(), LOG)}`);
  return counts;
}

async function runOnServers({ tests, env, signal, isDisturbed = false, patienceMs }: TestRun): Promise<TestRunResult> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(join(temporary(), 'waybell-test-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  // Postgres runs as another user under root, and must get to its files.
  chmodSync(home, 0o711);
  // Before the servers, which may have to be installed as well: that is done one after the other.
  const browser = tests.some(({ opensBrowser }) => opensBrowser) ? await readyBrowser(env) : {};
  const { stderr } = process;
  const progress = stack.use(
    new Progress({ files: tests.length, write: (text) => stderr.write(text), isTerminal: stderr.isTTY }),
  );
  const say = (line: string) => progress.say(plainText(line));
  const notes: string[] = [];
  const note = (line: string) => {
    notes.push(line);
    say(line);
  };
  const lender = tests.some(({ needs }) => needs !== 'nothing' && needs !== 'a network')
    ? stack.use(await lendServers({ home, note, report: say }))
    : undefined;
  if (isDisturbed) stack.use(disturb(say));
  // A stack that a test starts is not the caller's.
  const given = { ...env, ...browser, ...lender?.environment, WAYBELL_HOME: join(home, 'stack') };
  const onFile = (event: FileEvent) => progress.note(event);
  const first = await runAll({ tests, env: given, signal, patienceMs, onFile, log: LOG });
  const again = await runCrashed(first, { tests, env: given, signal, patienceMs, onFile, log: LOG, note });
  return { first, again, notes };
}

/** Each test that needs a network of its own by itself, after all others. */
async function runAll({ tests, ...run }: JestRun): Promise<JestResult> {
  const { true: alone = [], false: together = [] } = Object.groupBy(tests, ({ needs }) => `${needs === 'a network'}`);
  const sum: JestResult = { passed: 0, failed: 0, crashed: [], costs: [] };
  for (const each of [together, ...alone.map((test) => [test])]) {
    if (each.length === 0 || run.signal?.aborted) continue;
    const { passed, failed, crashed, costs } = await runJest({ tests: each, ...run });
    sum.passed += passed;
    sum.failed += failed;
    sum.crashed.push(...crashed);
    sum.costs.push(...costs);
  }
  return sum;
}

const MEMORY = '/dev/shm';
const FREE_BYTES = 4 * 2 ** 30;

/** In memory where enough of that is free: the servers of a run write a few hundred megabytes, each time to the disk, that nobody reads afterwards. */
function temporary(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= FREE_BYTES ? MEMORY : tmpdir();
}

/** A browser, and the page that it is to open. Without a browser the tests of pages fail, and no others. */
async function readyBrowser(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const finding = findChromium(env, browserMachine(report)).catch((error: unknown) => {
    if (!(error instanceof NoChromium)) throw error;
    report(error.message);
    return '';
  });
  const [chromium] = await Promise.all([finding, buildConsole(report)]);
  return { [CHROMIUM]: chromium };
}

/** Only what never came to an assertion: a process that ended under it says nothing of the product. */
async function runCrashed({ crashed }: JestResult, { tests, note, ...run }: Rerun): Promise<TestCounts> {
  if (crashed.length === 0 || run.signal?.aborted) return { passed: 0, failed: crashed.length };
  for (const path of crashed) note(`${path}: its process crashed`);
  const again = await runAll({ tests: tests.filter(({ path }) => crashed.includes(path)), ...run });
  return { passed: again.passed, failed: again.failed + again.crashed.length };
}

/** Linux has no other, whatever the machine. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU of this process, and of processes that it has started and that are over. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

/** Seconds of CPU of processes that this one has started, and that are over; 0 where that cannot be read. */
function childSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The command's name, in parentheses, may hold anything.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15);
    return (Number(user) + Number(system)) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

const EVERY_MS = 1_000;
const STOPPED_MS = { least: 500, most: 8_000 };
const BUSY = 4;

/**
 * A bad day for a test run: once a second one process that this one has started, by whatever way, stands still for half a
 * second to eight, and busy loops take the cores. What a test then finds wrong is not its machine's doing but its own.
 */
function disturb(say: (line: string) => void): Disposable {
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
      say(`processes of the run were stopped ${times} times`);
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
