import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { sharedFolder } from '@waybell/runtime/testing/shared';
import { nothingLeftBehind } from '../../tests/testing/left-behind.ts';
import { runJest, type FileEvent } from './run-jest.ts';

const unending = {
  path: 'cli/test-run/testing/starts-a-process.ts',
  suite: 'gate',
  needs: 'nothing',
  opensBrowser: false,
} as const;

const folder = sharedFolder('run-jest');

test('a run that is interrupted leaves no process of a test behind', async () => {
  const env = { ...process.env, STARTED_FOLDER: folder };
  const halt = new AbortController();
  const run = runJest({ tests: [unending], env, log: join(folder, 'log'), signal: halt.signal });
  try {
    const hasStarted = () => existsSync(join(folder, 'started'));
    await Promise.race([run, until('the test has started its process', hasStarted)]);
    halt.abort();
    expect(await run).toMatchObject({ passed: 0, failed: 1 });
    await nothingLeftBehind([folder]);
  } finally {
    halt.abort();
  }
});

test.each([
  { fault: 'fails', passed: 1, said: 'not.toBe' },
  { fault: 'hangs', passed: 2, said: 'Exceeded timeout of 2000 ms' },
])('where the first failure is the answer, no test is begun after one that $fault', async ({ fault, passed, said }) => {
  const path = 'cli/test-run/testing/fails-and-hangs.ts';
  const env = { ...process.env, FAULT: fault };
  const log = join(folder, fault);
  const events: FileEvent[] = [];
  const onFile = (event: FileEvent) => void events.push(event);
  const run = { tests: [{ ...unending, path }], env, patienceMs: 2_000, onFile, log };
  expect(await runJest(run)).toEqual({ passed, failed: 1, crashed: [], costs: [] });
  expect(events).toEqual([
    { kind: 'begun', path },
    { kind: 'ended', path, passed, failed: 1, failure: expect.stringContaining(said) },
  ]);
  const printed = readFileSync(log, 'utf8');
  expect(printed).toContain('the first was begun');
  expect(printed).not.toContain('another was begun');
});
