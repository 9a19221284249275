import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, existsSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { cpuSeconds } from './run-tests.ts';

// Unasked, a signal ends a process without telling those who wait for its exit, and a worker outlives jest. Listening for
// `disconnect` would keep it from ever ending by itself.
for (const end of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(end, () => process.exit(1));
const { ppid } = process;
setInterval(() => process.ppid !== ppid && process.exit(1), 500).unref();

/** Programs by what their command names, and what the run lends by the paths of libs/runtime/testing/borrow.ts. */
const PROGRAMS = {
  servers: /^(?:rabbitmq-server|postgres|redis-server)$/,
  browsers: /chrom/,
  services: /^services\/[\w-]+\/main\.ts$/,
};
const LENT = { '/vhost': 'vhosts', '/postgres': 'databases', '/breakable/take': 'breakables' };
/** How many of each this worker has started or borrowed. */
const counts = {};
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);

subscribe('child_process', ({ process: child }) => {
  // Only then it is said which program it is.
  process.nextTick(() => {
    const [program = '', ...args] = child.spawnargs ?? [];
    const script = args.find((arg) => arg.endsWith('/main.ts')) ?? '';
    const names = [basename(program), script.split('/').slice(-3).join('/')];
    for (const [what, name] of Object.entries(PROGRAMS)) if (names.some((each) => name.test(each))) count(what);
  });
});
subscribe('undici:request:create', ({ request: { origin, path } }) => {
  if (String(origin) === process.env.TEST_SERVERS && path in LENT) count(LENT[path]);
});

/**
 * The surroundings of a test file: those of its worker (see native-runtime.js). What it changes of the environment's variables
 * is restored after it; what it started, and left, ends with the worker.
 * What a file has cost is a line of the file that TEST_COSTS names: see test-costs.ts.
 */
export default class TestEnvironment {
  /** For jest: what it sets there, such as a console of its own, tests do not see. */
  global = {};
  #path;
  #before = { ...counts, cpuSeconds: cpuSeconds() };
  #variables = { ...process.env };

  constructor({ projectConfig }, { testPath }) {
    this.#path = relative(projectConfig.rootDir, testPath);
  }

  async setup() {}

  getVmContext() {
    return null;
  }

  /**
   * From the first failure on, in whichever process, the file is there that TEST_FIRST_FAILURE names: no other test is begun.
   * A test that takes longer than TEST_PATIENCE_MS fails; what it waits for before it begins is not counted.
   */
  handleTestEvent({ name, test, describeBlock }) {
    const { TEST_FIRST_FAILURE: failure, TEST_PATIENCE_MS: patience } = process.env;
    if (name === 'test_start' && patience !== undefined) test.timeout = Number(patience);
    if (failure === undefined) return;
    if (name === 'test_done' && test.errors.length > 0) appendFileSync(failure, '');
    if (name === 'run_describe_start' && existsSync(failure)) describeBlock.mode = 'skip';
    if (name === 'test_start' && existsSync(failure)) test.mode = 'skip';
  }

  async teardown() {
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
    if (process.env.TEST_COSTS === undefined) return;
    const now = Object.entries({ ...counts, cpuSeconds: cpuSeconds() });
    const since = now.map(([what, amount]) => [what, amount - (this.#before[what] ?? 0)]);
    const cost = { path: this.#path, ...Object.fromEntries(since) };
    appendFileSync(process.env.TEST_COSTS, `${JSON.stringify(cost)}\n`);
  }
}
