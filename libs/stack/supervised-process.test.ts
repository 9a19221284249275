import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SupervisedProcess, type ProcessEvent } from './supervised-process.ts';

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
    graceMs: 60_000,
  };
  idle = new SupervisedProcess(spec, { restart: 'backed off', onEvent: ({ kind }) => events.push(kind) });
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
});
