import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { report } from '../report.ts';
import { beginServers } from '../stack/servers.ts';
import { SERVER_NAMES } from '../stack/choose-sources.ts';
import { repository } from '../stack/stack-folder.ts';
import { findTests, selectTests, type TestFile } from '../test-run/find-tests.ts';
import { runJest, type TestCounts } from '../test-run/run-jest.ts';

export function testCommand(): Command {
  return new Command('test')
    .description('run the tests, with servers of their own; the last line is "N passed, N failed"')
    .argument('[suite or paths...]', 'line (no servers), system, slow, or parts of paths; everything when left out')
    .addHelpText(
      'after',
      '\nUses AMQP_URL, DATABASE_URL and REDIS_URL where they are set. A running stack is not touched.' +
        '\n\nExamples:\n  ./waybell test\n  ./waybell test line\n  ./waybell test libs/line services/deliverer\n',
    )
    .action(test);
}

async function test(words: string[]): Promise<void> {
  const tests = selectTests(findTests(repository), words);
  if (tests.length === 0)
    throw new Error(`no test matches ${words.join(' ')}; try line, system, slow or part of a path`);
  const halt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => halt.abort());
  const run = tests.some(({ needsServers }) => needsServers) ? runWithServers : runJest;
  const { passed, failed } = await run({ tests, env: process.env, signal: halt.signal });
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
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
    rmSync(home, { recursive: true, force: true });
  }
}
