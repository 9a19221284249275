import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { SupervisedProcess, failuresInARow, restartDelayMs, type ProcessEvent } from './supervised-process.ts';

describe('restartDelayMs', () => {
  test('begins at 0.2 s, doubles, and stays at 10 s', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 50].map((failures) => restartDelayMs(failures, 'backed off'));
    expect(delays).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  });

  test('stays at 1 s where it is to be soon', () => {
    expect([1, 3, 4, 50].map((failures) => restartDelayMs(failures, 'soon'))).toEqual([200, 800, 1_000, 1_000]);
  });
});

describe('failuresInARow', () => {
  test('counts runs that end early', () => {
    expect(failuresInARow({ before: 3, ranMs: 29_999 })).toBe(4);
  });

  test('forgets them once a run has lasted 30 s', () => {
    expect(failuresInARow({ before: 3, ranMs: 30_000 })).toBe(1);
  });
});

let folder: string;
let events: ProcessEvent['kind'][];
let idle: SupervisedProcess;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybell-process-'));
  events = [];
  const spec = {
    name: 'idle',
    role: 'service' as const,
    command: process.execPath,
    args: ['--eval', 'setInterval(() => undefined, 1_000)'],
    env: {},
    cwd: folder,
    logFile: join(folder, 'idle.log'),
    address: '',
    waitsFor: () => Promise.resolve(undefined),
    readyMs: 60_000,
    graceMs: 90_000,
  };
  idle = new SupervisedProcess(spec, {
    restart: 'backed off',
    onEvent: ({ kind }) => events.push(kind),
    startingGraceMs: 100,
  });
});

afterEach(async () => {
  await idle.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a supervised process', () => {
  test('that is restarted while it waits for its turn to come back runs once', async () => {
    await idle.start();
    await idle.kill();
    await idle.restart();
    expect(events.filter((kind) => kind === 'spawned')).toHaveLength(2);
  });

  test('that works and is not ready has all its grace time when it is stopped', async () => {
    const slow = "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 400)); console.log('hears');";
    idle.spec.args = ['--eval', `setInterval(() => undefined, 1_000); ${slow}`];
    idle.spec.waitsFor = () => Promise.resolve('rabbitmq');
    const started = idle.start().catch((error: unknown) => error);
    await until('it hears', () => readFileSync(idle.spec.logFile, 'utf8').includes('hears'));
    await idle.stop();
    await started;
    expect(idle.howItEnded).toBe('ended with exit code 0');
  });
});
