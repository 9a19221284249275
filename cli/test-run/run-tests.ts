import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buildConsole } from '@waybell/stack/build-console';
import { browserMachine, CHROMIUM, findChromium, NoChromium } from '@waybell/stack/find-chromium';
import { repository } from '@waybell/stack/stack-folder';
import { plainText } from '../print.ts';
import { report } from '../report.ts';
import { childSeconds } from './cpu-seconds.ts';
import { disturb } from './disturb.ts';
import type { TestFile } from './find-tests.ts';
import { lendServers } from './lend-servers.ts';
import { Progress } from './progress.ts';
import { runJest, type FileEvent, type JestResult, type JestRun, type TestCounts } from './run-jest.ts';
import { describeCosts, keepCosts, overBudget, readBudgets } from './test-costs.ts';

export type TestRun = {
  tests: TestFile[];
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Stops processes of the run at random while it goes on, and keeps the cores busy. */
  isDisturbed?: boolean;
  /** See run-jest.ts. */
  patienceMs?: number | undefined;
};

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

type TestRunResult = { first: JestResult; again: TestCounts; notes: string[] };

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
  const { true: apart = [], false: together = [] } = Object.groupBy(tests, ({ needs }) => `${needs === 'a network'}`);
  const sum: JestResult = { passed: 0, failed: 0, crashed: [], costs: [] };
  for (const each of [together, ...apart.map((test) => [test])]) {
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
const ROOM_BYTES = 4 * 2 ** 30;

/** In memory where that has room: the servers of a run write a few hundred megabytes, each time to the disk, that nobody reads afterwards. */
function temporary(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
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

type Rerun = JestRun & { note: (line: string) => void };

/** Only what never came to an assertion: a process that ended under it says nothing of the product. */
async function runCrashed({ crashed }: JestResult, { tests, note, ...run }: Rerun): Promise<TestCounts> {
  if (crashed.length === 0 || run.signal?.aborted) return { passed: 0, failed: crashed.length };
  for (const path of crashed) note(`${path}: its process crashed`);
  const again = await runAll({ tests: tests.filter(({ path }) => crashed.includes(path)), ...run });
  return { passed: again.passed, failed: again.failed + again.crashed.length };
}
