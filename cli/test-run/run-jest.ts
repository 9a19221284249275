import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { THROWAWAY } from '@waybell/stack/engine-servers';
import { repository } from '@waybell/stack/stack-folder';
import type { TestFile } from './find-tests.ts';

export type TestCounts = { passed: number; failed: number };

export type JestRun = {
  tests: TestFile[];
  env: NodeJS.ProcessEnv;
  /** Where jest's own report goes: a file descriptor, or a pipe into `onOutput`. */
  onOutput?: (chunk: Buffer) => void;
  signal?: AbortSignal;
};

// Tests that wait for real schedules use no processor: more of them than cores may run at once.
const SLOW_AT_ONCE = 4;

/** Runs these test files; resolves with the counts, whatever happens to jest. */
export async function runJest({ tests, env, onOutput, signal }: JestRun): Promise<TestCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'waybell-jest-'));
  const resultFile = join(folder, 'result.json');
  const slow = Math.min(SLOW_AT_ONCE, tests.filter(({ isSlow }) => isSlow).length);
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(repository, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--json',
    `--outputFile=${resultFile}`,
    `--maxWorkers=${Math.max(2, availableParallelism()) + slow}`,
    `--testSequencer=${join(repository, 'cli', 'test-run', 'slowest-first.js')}`,
    '--testMatch=**',
    '--runTestsByPath',
    ...tests.map(({ path }) => join(repository, path)),
  ];
  // Its report is not the command's answer: it goes to stderr.
  const output = onOutput === undefined ? 2 : 'pipe';
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: { ...env, [THROWAWAY]: '1' },
    stdio: ['ignore', output, output],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => onOutput?.(chunk));
  const interrupt = () => child.kill('SIGTERM');
  signal?.addEventListener('abort', interrupt);
  const status = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
  signal?.removeEventListener('abort', interrupt);
  const counts = countsIn(resultFile);
  rmSync(folder, { recursive: true, force: true });
  // Something failed that belongs to no test, such as a threshold or jest itself.
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** A suite that does not load has no tests to count: it counts as one that failed. */
function countsIn(resultFile: string): TestCounts {
  if (!existsSync(resultFile)) return { passed: 0, failed: 1 };
  const result = JSON.parse(readFileSync(resultFile, 'utf8')) as Record<string, number>;
  const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = result;
  return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
}
