import { describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { until } from '@waybell/runtime/testing/until';
import { startSweeping } from './start-sweeping.ts';
import type { SweepResult } from './sweep.ts';

const log = createLog({ service: 'test', level: 'silent' });

function start(sweep: (stop: AbortSignal) => Promise<SweepResult>) {
  const results: string[] = [];
  const onSwept = (result: string) => void results.push(result);
  return { results, sweeping: startSweeping({ sweep, onSwept, intervalMs: 1, log }) };
}

describe('sweeping', () => {
  test('tells how each ended, one that failed included, and goes on', async () => {
    let sweeps = 0;
    const { results, sweeping } = start(async () => {
      sweeps += 1;
      if (sweeps === 1) throw new Error('the server is away');
      return 'done';
    });
    await until('two have ended', () => results.length >= 2);
    await sweeping[Symbol.asyncDispose]();
    expect(results.slice(0, 2)).toEqual(['failed', 'done']);
  });
});
