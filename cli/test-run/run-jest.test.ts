import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { sharedFolder } from '@waybell/runtime/testing/shared';
import { nothingLeftBehind } from '../../tests/testing/left-behind.ts';
import { runJest, Progress, type FileEvent } from './run-jest.ts';

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

function aProgress(isTerminal: boolean) {
  let written = '';
  let nowMs = 5_000;
  const write = (text: string) => void (written += text);
  const progress = new Progress({ files: 3, write, isTerminal, now: () => nowMs });
  progress.note({ kind: 'begun', path: 'a.test.ts' });
  progress.note({ kind: 'begun', path: 'b.test.ts' });
  nowMs += 61_000;
  return { progress, written: () => written };
}

test('a log gets a line that says how far it is, and what failed at once', () => {
  const { progress, written } = aProgress(false);
  using _ = progress;
  progress.tell();
  progress.note({ kind: 'ended', path: 'a.test.ts', passed: 4, failed: 0, failure: '' });
  progress.note({ kind: 'ended', path: 'b.test.ts', passed: 2, failed: 1, failure: '  it is not so' });
  progress.tell();
  expect(written().split('\n')).toEqual([
    'waybell: 61 s: 0 of 3 test files, 0 passed; now a.test.ts and 1 more',
    'waybell: FAILED b.test.ts',
    '  it is not so',
    'waybell: 61 s: 2 of 3 test files, 6 passed, 1 FAILED; now nothing',
    '',
  ]);
});

test('on a terminal the line is renewed, what stays is written above it, and in the end it is gone', () => {
  const { progress, written } = aProgress(true);
  progress.say('RabbitMQ starts');
  progress[Symbol.dispose]();
  const line = 'waybell: 61 s: 0 of 3 test files, 0 passed; now a.test.ts and 1 more';
  expect(written()).toBe(`\r\u001B[Kwaybell: RabbitMQ starts\n\r\u001B[K${line}\r\u001B[K`);
});
