import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { repository } from '@waybell/stack/stack-folder';
import type { TestFile } from './find-tests.ts';
import type { TestCost } from './test-costs.ts';

export type TestCounts = { passed: number; failed: number };

export type JestRun = {
  tests: TestFile[];
  env: NodeJS.ProcessEnv;
  /** Stops at the first failure, a test counting as hung after this time. */
  patienceMs?: number | undefined;
  /** Receives what becomes of each test file. */
  onFile?: (event: FileEvent) => void;
  /** File that gets what jest and the processes of tests print. */
  log: string;
  signal?: AbortSignal;
};

/** A test file has begun, or has ended: with what failed, as jest describes it. */
export type FileEvent =
  | { kind: 'begun'; path: string }
  | { kind: 'ended'; path: string; passed: number; failed: number; failure: string };

export type JestResult = TestCounts & {
  /** Paths of test files whose process ended before they did: not an assertion, so they may be run once more. */
  crashed: string[];
  /** The cost of each file whose tests all passed. */
  costs: TestCost[];
};

/**
 * Runs a command with a network and mounts of its own, which end with it, and sets a variable that says so. Needs root, and
 * Linux.
 */
const LAUNCH = 'ip link set lo up && exec env TEST_OWN_NETWORK=1 "$@"';
const IN_OWN_NETWORK = ['unshare', '--net', '--mount', 'sh', '-c', LAUNCH, 'sh'];

/** Workers for each core: tests wait for servers and for each other much of the time. */
const WORKERS_PER_CORE = 2;

/** Runs these test files, several at once; resolves with the counts, whatever happens to jest. */
export async function runJest({ tests, env, patienceMs, onFile, log, signal }: JestRun): Promise<JestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'waybell-jest-'));
  const resultFile = join(folder, 'result.json');
  const costsFile = join(folder, 'costs.jsonl');
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(repository, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--json',
    `--outputFile=${resultFile}`,
    `--reporters=${join(repository, 'cli', 'test-run', 'tell-files.js')}`,
    // An open handle may keep a process from its end.
    ...(patienceMs === undefined ? [] : ['--forceExit']),
    `--maxWorkers=${WORKERS_PER_CORE * availableParallelism()}`,
    `--testSequencer=${join(repository, 'cli', 'test-run', 'gate-order.js')}`,
    // Jest caches its transformed sources independently of the chosen tests.
    '--testMatch=**',
    '--runTestsByPath',
    ...tests.map(({ path }) => join(repository, path)),
  ];
  const isApart = tests.length > 0 && tests.every(({ needs }) => needs === 'a network');
  const [program = '', ...words] = [...(isApart ? IN_OWN_NETWORK : []), process.execPath, ...args];
  mkdirSync(dirname(log), { recursive: true });
  const output = openSync(log, 'a');
  const child = spawn(program, words, {
    cwd: repository,
    env: {
      ...env,
      TEST_ORDER: inOrder(tests).join(),
      TEST_COSTS: costsFile,
      ...(patienceMs !== undefined && {
        TEST_FIRST_FAILURE: join(folder, 'first-failure'),
        TEST_PATIENCE_MS: String(patienceMs),
      }),
    },
    stdio: ['ignore', output, output, 'pipe'],
  });
  closeSync(output);
  // The fourth of its descriptors: see tell-files.js, which writes nothing else.
  const told = createInterface({ input: child.stdio[3] as Readable });
  told.on('line', (line) => onFile?.(JSON.parse(line) as FileEvent));
  const interrupt = () => child.kill('SIGTERM');
  signal?.addEventListener('abort', interrupt);
  const status = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
  signal?.removeEventListener('abort', interrupt);
  const result = resultIn(resultFile, costsFile);
  rmSync(folder, { recursive: true, force: true });
  // Something failed that belongs to no test, such as a threshold or jest itself.
  const isUnexplained = status !== 0 && result.failed === 0 && result.crashed.length === 0;
  return isUnexplained ? { ...result, failed: 1 } : result;
}

/** The part of jest's report that is read here. Times are milliseconds. */
type JestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: {
    name: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: { status: string }[];
  }[];
};

/** How jest names a process of its own that ended in the middle of a test file. */
const CRASH = /jest worker process \(pid=\d{1,10}\) (?:was terminated by another process|crashed)/i;

/** A suite that does not load has no tests to count: it counts as one that failed. */
function resultIn(resultFile: string, costsFile: string): JestResult {
  if (!existsSync(resultFile)) return { passed: 0, failed: 1, crashed: [], costs: [] };
  const report = JSON.parse(readFileSync(resultFile, 'utf8')) as JestReport;
  const suites = report.testResults.map((suite) => ({ ...suite, path: relative(repository, suite.name) }));
  const crashed = suites.filter(({ message }) => CRASH.test(message)).map(({ path }) => path);
  const measured = measuredIn(costsFile);
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites - crashed.length,
    crashed,
    costs: suites
      .filter(({ assertionResults }) => assertionResults.every(({ status }) => status === 'passed'))
      .map(({ path, startTime, endTime, assertionResults }) => ({
        cpuSeconds: 0,
        ...measured.get(path),
        path,
        tests: assertionResults.length,
        clockSeconds: (endTime - startTime) / 1_000,
      })),
  };
}

type Measured = Omit<TestCost, 'tests' | 'clockSeconds'>;

/** Reads the lines of test-environment.js, one for each file; none for a file whose process ended too early. */
function measuredIn(costsFile: string): Map<string, Measured> {
  const lines = existsSync(costsFile) ? readFileSync(costsFile, 'utf8').split('\n').filter(Boolean) : [];
  return new Map(lines.map((line) => JSON.parse(line) as Measured).map((measured) => [measured.path, measured]));
}

/**
 * Sorts paths by when they begin: whole systems, which take longest and wait most, then those that break a RabbitMQ; those
 * without servers keep the cores busy meanwhile, and the small ones on servers fill the gaps in the end.
 */
export function inOrder(tests: readonly TestFile[]): string[] {
  const of = (kind: TestFile['needs']) => tests.filter(({ needs }) => needs === kind).map(({ path }) => path);
  return [of('a stack').toReversed(), of('a turn'), of('nothing'), of('servers'), of('a network')].flat();
}

type ProgressOptions = {
  files: number;
  /** Writes to the terminal or log that the user looks at. */
  write: (text: string) => void;
  isTerminal: boolean;
  /** Monotonic, in milliseconds. */
  now?: () => number;
};

const OFTEN_MS = 1_000;
const SELDOM_MS = 60_000;
const CLEAR_LINE = '\r\u001B[K';

/** Says how far a run of tests is: in a line that is renewed on a terminal, elsewhere once a minute. What failed it says at once. */
export class Progress implements Disposable {
  readonly #options: Required<ProgressOptions>;
  readonly #began: number;
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Set<string>();
  #ended = 0;
  #passed = 0;
  #failed = 0;

  constructor({ now = () => performance.now(), ...options }: ProgressOptions) {
    this.#options = { now, ...options };
    this.#began = now();
    this.#timer = setInterval(() => this.tell(), options.isTerminal ? OFTEN_MS : SELDOM_MS).unref();
  }

  note(event: FileEvent): void {
    if (event.kind === 'begun') return void this.#running.add(event.path);
    this.#running.delete(event.path);
    this.#ended += 1;
    this.#passed += event.passed;
    this.#failed += event.failed;
    if (event.failure !== '') this.say(`FAILED ${event.path}\n${event.failure}`);
  }

  /** A line that stays. */
  say(line: string): void {
    const { write, isTerminal } = this.#options;
    write(`${isTerminal ? CLEAR_LINE : ''}waybell: ${line}\n`);
    if (isTerminal) this.tell();
  }

  /** How far it is now. */
  tell(): void {
    const { write, isTerminal, files, now } = this.#options;
    const seconds = Math.round((now() - this.#began) / 1_000);
    const [first = 'nothing', ...others] = this.#running;
    const beside = others.length === 0 ? '' : ` and ${others.length} more`;
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} FAILED`;
    const line = `waybell: ${seconds} s: ${this.#ended} of ${files} test files, ${this.#passed} passed${failed}; now ${first}${beside}`;
    write(isTerminal ? `${CLEAR_LINE}${line}` : `${line}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#options.isTerminal) this.#options.write(CLEAR_LINE);
  }
}
