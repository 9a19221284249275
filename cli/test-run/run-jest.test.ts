import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { nothingLeftBehind } from '../../tests/testing/left-behind.ts';
import { runJest } from './run-jest.ts';

const unending = {
  path: 'cli/test-run/testing/starts-a-process.ts',
  suite: 'gate',
  needs: 'nothing',
  opensBrowser: false,
} as const;

test('a run that is interrupted leaves no process of a test behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waybell-run-jest-'));
  const env = { ...process.env, STARTED_FOLDER: folder };
  const halt = new AbortController();
  const run = runJest({ tests: [unending], env, onOutput: () => undefined, signal: halt.signal });
  try {
    const hasStarted = () => existsSync(join(folder, 'started'));
    await Promise.race([run, until('the test has started its process', hasStarted)]);
    halt.abort();
    expect(await run).toMatchObject({ passed: 0, failed: 1 });
    await nothingLeftBehind([folder]);
  } finally {
    halt.abort();
    rmSync(folder, { recursive: true });
  }
});

test.each([
  { fault: 'fails', passed: 1, said: 'not.toBe' },
  { fault: 'hangs', passed: 2, said: 'Exceeded timeout of 2000 ms' },
])('where the first failure is the answer, no test is begun after one that $fault', async ({ fault, passed, said }) => {
  const tests = [{ ...unending, path: 'cli/test-run/testing/fails-and-hangs.ts' }];
  const env = { ...process.env, FAULT: fault };
  let output = '';
  const onOutput = (chunk: Buffer) => void (output += chunk.toString());
  expect(await runJest({ tests, env, patienceMs: 2_000, onOutput })).toEqual({
    passed,
    failed: 1,
    crashed: [],
    costs: [],
  });
  expect(output).toContain(said);
  expect(output).not.toContain('it was begun');
});
