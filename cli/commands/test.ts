import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { report } from '../report.ts';
import { explainFailure } from '@waybell/stack/explain-failure';
import { beginServers } from '@waybell/stack/servers';
import { SERVER_NAMES } from '@waybell/stack/choose-sources';
import { repository } from '@waybell/stack/stack-folder';
import { findTests, selectTests, type TestFile } from '../test-run/find-tests.ts';
import { runJest, type TestCounts } from '../test-run/run-jest.ts';

export function testCommand(): Command {
  return new Command('test')
    .description('run the tests, with servers of their own; the last line is "N passed, N failed"')
    .argument('[suite or paths...]', 'line (no servers), system, slow, or parts of paths; everything when left out')
    .option('--release', 'with "faults": every fault, at full length; takes hours')
    .addHelpText(
      'after',
      '\nUses AMQP_URL, DATABASE_URL and REDIS_URL where they are set. A running stack is not touched.' +
        '\nRABBITMQ_VERSION=4.0 runs them on that version (see "./waybell up --help").' +
        '\n"faults" breaks things under load and prints what each fault cost: lost, duplicates, seconds, memory.' +
        '\nFAULT_RATE=<number> bounds the events a second, where the machine carries less than the 1,000 of --release.' +
        '\nL16 is random: SOAK_SEED=<number> does again what that seed did, SOAK_MINUTES=<number> says for how long.' +
        '\n\nExamples:\n  ./waybell test\n  ./waybell test line\n  ./waybell test libs/line services/deliverer' +
        '\n  ./waybell test faults L1 L3\n  ./waybell test faults --release\n  RABBITMQ_VERSION=4.0 ./waybell test libs/line\n',
    )
    .action(test);
}

async function test(words: string[], { release = false }: { release?: boolean }): Promise<void> {
  if (words[0] === 'faults') return testFaults(words.slice(1), release);
  if (release) throw new Error('--release goes with "faults": ./waybell test faults --release');
  const tests = selectTests(findTests(repository), words);
  if (tests.length === 0)
    throw new Error(`no test matches ${words.join(' ')}; try line, system, slow or part of a path`);
  const halt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => halt.abort());
  const run = tests.some(({ needsServers }) => needsServers) ? runWithServers : runJest;
  const { passed, failed } = await run({ tests, env: process.env, signal: halt.signal }).catch(countAsFailed);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

/** Whoever reads the last line wants a number, also where no test came to run or the servers did not stop. */
function countAsFailed(error: unknown): TestCounts {
  report(explainFailure(error));
  return { passed: 0, failed: 1 };
}

/** The fault bench is a program of its own; its last line is as that of the tests. */
async function testFaults(rows: string[], release: boolean): Promise<void> {
  const bench = join(repository, 'tests', 'faults', 'run.ts');
  const child = spawn(process.execPath, [bench, ...rows, ...(release ? ['--release'] : [])], { stdio: 'inherit' });
  // It takes down what it started, and ends by itself.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}

type Run = { tests: TestFile[]; env: NodeJS.ProcessEnv; signal: AbortSignal };

async function runWithServers({ tests, env, signal }: Run): Promise<TestCounts> {
  const home = mkdtempSync(join(tmpdir(), 'waybell-test-'));
  // Postgres runs as another user under root, and must get to its files.
  chmodSync(home, 0o711);
  report('starting servers for the tests');
  const servers = await beginServers({ home, env, report });
  try {
    await Promise.all(SERVER_NAMES.map((name) => servers.ready(name)));
    signal.throwIfAborted();
    return await runJest({
      tests,
      signal,
      env: {
        ...env,
        TEST_AMQP_URL: servers.url('rabbitmq'),
        TEST_DATABASE_URL: servers.url('postgres'),
        TEST_REDIS_URL: servers.url('redis'),
        // Whatever a test starts by its own, it is not the caller's stack.
        WAYBELL_HOME: join(home, 'stack'),
      },
    });
  } finally {
    await servers.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
}
