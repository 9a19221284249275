import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { signalQuietly } from '@waybell/stack/process-identity';

export type SuiteRun = { checkout: string; suites: readonly string[]; env?: NodeJS.ProcessEnv | undefined };

/** Tests that failed, and suites that did not even load; and what jest said. */
export type SuiteResult = { failed: { suite: string; test: string; why: string }[]; unloaded: string[]; said: string };

type Assertion = { status: string; fullName: string; failureMessages: string[] };
type JestReport = {
  testResults: { name: string; message: string; assertionResults: Assertion[] }[];
};

/** A suite that goes on for ever sees nothing. */
const LIMIT_MS = 600_000;
/** A test that hangs has seen it: with nothing broken, none takes as long. */
const TEST_LIMIT_MS = 60_000;

/** Runs these test files of a checkout, one after the other, as far as the first test that fails. */
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
    // An open handle may keep the process from its end.
    '--forceExit',
    `--testSequencer=${join(checkout, 'cli', 'test-run', 'gate-order.js')}`,
    '--testMatch=**',
    '--runTestsByPath',
    ...suites.map((suite) => join(checkout, suite)),
  ];
  const inOrder = { TEST_FIRST_FAILURE: join(folder, 'first-failure'), TEST_ORDER: suites.join() };
  const said = await run(args, { cwd: checkout, env: { ...env, ...inOrder } });
  const text = await readFile(outputFile, 'utf8').catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
  if (text === undefined) return { failed: [], unloaded: [...suites], said };
  const { testResults } = JSON.parse(text) as JestReport;
  const failed = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map((test) => ({ suite: name.slice(checkout.length + 1), test: nameOf(test), why: whyOf(test) })),
  );
  const unloaded = testResults
    .filter(({ assertionResults }) => assertionResults.length === 0)
    .map(({ name }) => name.slice(checkout.length + 1));
  return { failed, unloaded, said };
}

/** Resolves with the text on stderr, also after a failure; no child process is left. */
async function run(args: string[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  // A run that is interrupted leaves none behind.
  const end = () => signalQuietly(-Number(child.pid), 'SIGKILL');
  process.once('exit', end);
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const closed = once(child, 'close');
  await once(child, 'exit');
  // A process of a test that hung may still hold its end of the pipe.
  end();
  process.off('exit', end);
  await closed;
  return Buffer.concat(said).toString();
}

/** With the law that is broken, where the test holds many. */
function nameOf({ fullName, failureMessages }: Assertion): string {
  const [, law] = /broken: (.+)/.exec(failureMessages.join('\n')) ?? [];
  return law === undefined ? fullName : `${fullName}: ${law}`;
}

/** The first line of what was wrong, without colors. */
function whyOf({ failureMessages: [message = ''] }: Assertion): string {
  const [line = ''] = stripVTControlCharacters(message).split('\n');
  return line.slice(0, 160);
}
