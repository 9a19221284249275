import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { identify, isAlive, terminate } from './process-identity.ts';

const aSleeper = () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
  const identity = identify(child.pid ?? 0);
  if (identity === undefined) throw new Error('sleep did not start');
  return { child, identity };
};

describe('isAlive', () => {
  test('knows a living process, and a dead one', async () => {
    const { child, identity } = aSleeper();
    expect(isAlive(identity)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(identity)).toBe(false);
  });

  test('is not fooled by another process that got the same pid', () => {
    expect(isAlive({ pid: process.pid, began: 'earlier' })).toBe(false);
  });
});

describe('terminate', () => {
  test('leaves a later process with the same pid alone', async () => {
    const { child, identity } = aSleeper();
    await terminate({ ...identity, began: 'earlier' }, { graceMs: 100 });
    expect(isAlive(identity)).toBe(true);
    const exited = once(child, 'exit');
    await terminate(identity, { graceMs: 60_000 });
    await exited;
    expect(isAlive(identity)).toBe(false);
    expect(child.signalCode).toBe('SIGTERM');
  });
});
