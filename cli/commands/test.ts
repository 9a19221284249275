import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { goneSettings } from '@waybell/runtime/gone-settings';
import { repository } from '@waybell/stack/stack-folder';
import { explainFailure } from '@waybell/stack/supervised-process';
import { removeSettings } from '../describe-environment.ts';
import { makeGenerated } from '../docs/make-generated.ts';
import { positive } from '../options.ts';
import { report, print } from '../print.ts';
import { changedSince, chooseChanged } from '../test-run/choose-changed.ts';
import { findTests, selectTests } from '../test-run/find-tests.ts';
import { ImportGraph } from '../test-run/import-graph.ts';
import type { TestCounts } from '../test-run/run-jest.ts';
import { runTests } from '../test-run/run-tests.ts';
import { readCosts } from '../test-run/test-costs.ts';

/** The time limit of a test where somebody waits for the answer: in the gate none takes 15 s. */
const PATIENCE_MS = 30_000;

type Options = { release?: boolean; write?: boolean; disturbed?: boolean; changed?: string | true; invent?: number };

type TestRunOptions = Options & { signal: AbortSignal };

export function testCommand(): Command {
  return new Command('test')
    .description('run the tests, with servers of their own; the last line is "N passed, N failed"')
    .argument('[suite or paths...]', 'line (no servers), timing, everything, faults, mutants, or parts of paths')
    .option(
      '--changed [commit]',
      'only what can see what changed since that commit, else since the last one; in a minute',
    )
    .option('--disturbed', 'stop processes of the run at random, and keep the cores busy, while it goes on')
    .option('--release', 'with "faults": every fault, at full length; takes hours')
    .option(
      '--invent <count>',
      'with "mutants": that many mistakes that nobody has thought of; those of TEST_SEED, else others each time',
      positive,
    )
    .option('--write', 'with "faults": put the figures into docs/guarantees.md')
    .addHelpText(
      'after',
      '\nWithout a suite it runs what gates a change. "everything" adds what takes long: *.long.test.ts, all faults, mutants' +
        '\nand timing. A running stack is not touched, and no server or setting that the environment names.' +
        '\nWhere servers are not installed they run in containers, which are removed however the run ends.' +
        '\nRABBITMQ_VERSION=4.0 runs them on that version (see "./waybell up --help").' +
        '\nWAYBELL_CHROMIUM=<file> is the Chromium that tests of pages run in; else one on the path, else it is installed.' +
        '\nTEST_SEED=<number> is where random tests begin: fixed, but with "everything" random, printed, and kept in .waybell/seeds.log.' +
        '\n"mutants" breaks the product in small ways, and says which test sees each.' +
        '\n"--changed" is for while one works: the nearest tests, as many as a minute has room for. It stops at the' +
        '\nfirst that fails, or hangs for 30 s, and says how many it leaves to the gate.' +
        '\n"timing" measures what depends on the machine; nothing is gated by it.' +
        '\n"faults" breaks things under load and prints what each fault cost, and the table of docs/guarantees.md.' +
        '\nFAULT_RATE=<number> bounds the events a second, where the machine carries less than the 1,000 of --release.' +
        '\nL16, L20 and L24 are random: SOAK_SEED=<number> does again what that seed did; for L16 and L24 SOAK_MINUTES=<number>' +
        '\nsays for how long.' +
        '\n\nExamples:\n  ./waybell test\n  ./waybell test line\n  ./waybell test --changed\n  ./waybell test --changed HEAD~3\n  ./waybell test libs/line services/deliverer' +
        '\n  ./waybell test everything\n  ./waybell test faults L1 L3\n  ./waybell test faults L19 alarm\n  ./waybell test mutants\n  ./waybell test mutants --invent 30\n',
    )
    .action(test);
}

async function test(words: string[], options: Options): Promise<void> {
  const [suite] = words;
  const { release, write, changed, invent } = options;
  if (changed !== undefined && suite !== undefined)
    throw new Error('--changed chooses the tests by itself: ./waybell test --changed, or --changed <commit>');
  if (release && suite !== 'faults') throw new Error('--release goes with "faults": ./waybell test faults --release');
  if (write && suite !== 'faults') throw new Error('--write goes with "faults": ./waybell test faults --write');
  if (invent !== undefined && suite !== 'mutants')
    throw new Error('--invent goes with "mutants": ./waybell test mutants --invent 30');
  await makeGenerated();
  const { settingNames } = await import('../settings.ts');
  const left = removeSettings([...settingNames, ...Object.keys(goneSettings)], process.env);
  if (left.length > 0) report(`tests have servers and settings of their own, and do not follow ${left.join(', ')}`);
  const halt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => halt.abort());
  const { passed, failed } = await run(words, { ...options, signal: halt.signal });
  print(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

async function run(
  words: string[],
  { release, write, disturbed = false, changed, invent, signal }: TestRunOptions,
): Promise<TestCounts> {
  const [suite = '', ...rest] = words;
  if (suite === 'faults')
    return runProgram(
      'tests/faults/run.ts',
      [...rest, ...(release ? ['--release'] : []), ...(write ? ['--write'] : [])],
      signal,
    );
  if (suite === 'mutants')
    return runProgram(
      'tests/mutants/run.ts',
      [...rest, ...(invent === undefined ? [] : ['--invent', String(invent)])],
      signal,
    );
  if (changed !== undefined) return runChanged(changed, disturbed, signal);
  const tests = selectTests(findTests(repository), words);
  if (tests.length === 0)
    throw new Error(`no test matches ${words.join(' ')}; try line, timing, everything, or part of a path`);
  const counts = await runTests({ tests, env: environment(suite), signal, isDisturbed: disturbed }).catch(
    countAsFailed,
  );
  return suite === 'everything' ? withTheRest(counts, signal) : counts;
}

/** Runs the tests nearest to the changes since then. Says what is left out, and in the end what none of them opens. */
async function runChanged(since: string | true, isDisturbed: boolean, signal: AbortSignal): Promise<TestCounts> {
  const changed = changedSince(repository, since === true ? 'HEAD' : since);
  const graph = new ImportGraph(repository);
  const costs = readCosts();
  const secondsOf = (path: string) => costs.get(path)?.clockSeconds;
  const { chosen, left, unopened } = chooseChanged({ changed, tests: findTests(repository, graph), graph, secondsOf });
  const leftOf = left.length === 0 ? '' : `; ${left.length} that see it from farther away are left to the gate`;
  report(`${changed.length} files changed: ${chosen.length} test files can see that in a minute${leftOf}`);
  const chosenRun = { tests: chosen, env: environment(''), signal, isDisturbed, patienceMs: PATIENCE_MS };
  const counts = chosen.length === 0 ? { passed: 0, failed: 0 } : await runTests(chosenRun).catch(countAsFailed);
  if (unopened.length > 0) report(`changed, and opened by no test: ${unopened.join(', ')}`);
  return counts;
}

/** The seed of random tests, and how many times as much as in the gate they try. */
function environment(suite: string): NodeJS.ProcessEnv {
  const usual = suite === 'everything' ? { seed: String(randomInt(2 ** 31)), runs: '10' } : { seed: '1', runs: '1' };
  const { TEST_SEED = usual.seed, TEST_RUNS = usual.runs } = process.env;
  if (TEST_SEED !== '1') {
    const line = `TEST_SEED=${TEST_SEED} TEST_RUNS=${TEST_RUNS}`;
    report(`random tests begin at ${line}`);
    // A finding of a random run can be found again.
    mkdirSync(join(repository, '.waybell'), { recursive: true });
    appendFileSync(join(repository, '.waybell', 'seeds.log'), `${new Date().toISOString()} ${line}\n`);
  }
  return { ...process.env, TEST_SEED, TEST_RUNS };
}

/** Runs the tests beside those of jest. Timing is reported and gates nothing. */
async function withTheRest(counts: TestCounts, signal: AbortSignal): Promise<TestCounts> {
  const sum = { ...counts };
  for (const suite of ['faults', 'mutants']) {
    const { passed, failed } = await run([suite], { signal });
    report(`${suite}: ${passed} passed, ${failed} failed`);
    sum.passed += passed;
    sum.failed += failed;
  }
  const timing = await run(['timing'], { signal }).catch(countAsFailed);
  report(`timing, which gates nothing: ${timing.passed} kept, ${timing.failed} missed`);
  return sum;
}

/** Callers that read the last line want a number, also where no test ran or the servers did not stop. */
function countAsFailed(error: unknown): TestCounts {
  report(explainFailure(error));
  return { passed: 0, failed: 1 };
}

/** A suite that is a program of its own, whose last line on stdout is as that of the tests. */
async function runProgram(path: string, args: string[], signal: AbortSignal): Promise<TestCounts> {
  const child = spawn(process.execPath, [join(repository, path), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // It takes down everything that it started, and ends by itself.
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  await once(child, 'close');
  const lastLine = output.trimEnd().split('\n').at(-1) ?? '';
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(lastLine) ?? [];
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 1) };
}
