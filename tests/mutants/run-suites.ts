import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type SuiteRun = { checkout: string; suites: readonly string[]; env?: NodeJS.ProcessEnv | undefined };

/** Tests that failed, and suites that did not even load; and what jest said. */
export type SuiteResult = { failed: { suite: string; test: string }[]; unloaded: string[]; said: string };

type Assertion = { status: string; fullName: string; failureMessages: string[] };
type JestReport = {
  testResults: { name: string; message: string; assertionResults: Assertion[] }[];
};

/** A suite that goes on for ever sees nothing. */
const LIMIT_MS = 600_000;
/** A test that hangs has seen it: with nothing broken, none takes as long. */
const TEST_LIMIT_MS = 60_000;

/** Runs these test files of a checkout, as far as the first test that fails. */
export async function runSuites({ checkout, suites, env }: SuiteRun): Promise<SuiteResult> {
  const folder = await mkdtemp(join(tmpdir(), 'waybell-mutants-jest-'));
  const outputFile = join(folder, 'result.json');
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(checkout, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--json',
    `--outputFile=${outputFile}`,
    '--runInBand',
    `--testTimeout=${TEST_LIMIT_MS}`,
    // What hangs may keep the process from its end.
    '--forceExit',
    '--testMatch=**',
    '--runTestsByPath',
    ...suites.map((suite) => join(checkout, suite)),
  ];
  const limits = { timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 2 ** 28 } as const;
  const whole = {
    cwd: checkout,
    env: { ...process.env, ...env, TEST_FIRST_FAILURE: join(folder, 'first-failure') },
    ...limits,
  };
  // It fails where a test does, and its report says which.
  const { stderr: said } = await run(process.execPath, args, whole).catch((error: { stderr: string }) => error);
  const text = await readFile(outputFile, 'utf8').catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
  if (text === undefined) return { failed: [], unloaded: [...suites], said };
  const { testResults } = JSON.parse(text) as JestReport;
  const failed = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map((test) => ({ suite: name.slice(checkout.length + 1), test: nameOf(test) })),
  );
  const unloaded = testResults.filter(({ assertionResults }) => assertionResults.length === 0).map(({ name }) => name);
  return { failed, unloaded, said };
}

/** With the law that is broken, where the test holds many. */
function nameOf({ fullName, failureMessages }: Assertion): string {
  const [, law] = /broken: (.+)/.exec(failureMessages.join('\n')) ?? [];
  return law === undefined ? fullName : `${fullName}: ${law}`;
}
