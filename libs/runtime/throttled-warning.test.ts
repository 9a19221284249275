import { describe, expect, test } from '@jest/globals';
import { throttledWarning } from './log.ts';
import { TurnedClock } from './turned-clock.ts';

describe('throttledWarning', () => {
  test('warns at once, with the reason, and then at most once a minute', () => {
    const said: unknown[] = [];
    const clock = new TurnedClock();
    const warn = throttledWarning({ warn: (...words: unknown[]) => void said.push(words) }, 'redis.away', clock);
    for (const at of [0, 1, 59_999, 60_000, 60_001]) {
      clock.skipTo(at);
      warn(new Error(`at ${at}`));
    }
    expect(said).toEqual([
      [{ reason: 'at 0' }, 'redis.away'],
      [{ reason: 'at 60000' }, 'redis.away'],
    ]);
  });
});
