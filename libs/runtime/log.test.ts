import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { leaveOutRepeats, throttledWarning } from './log.ts';
import { TurnedClock } from './turned-clock.ts';

function aLog() {
  const lines: { msg: string; leftOut?: number }[] = [];
  const clock = { now: 0 };
  const log = pino(
    { base: null, hooks: { logMethod: leaveOutRepeats(() => clock.now) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  return { log, lines, clock };
}

describe('a log', () => {
  test('says the same trouble ten times a minute at most, and then how often it was left out', () => {
    const { log, lines, clock } = aLog();
    for (let place = 0; place < 1_000; place += 1)
      log.warn(
        { exchange: 'a', reason: `Channel closed by server: 541 (INTERNAL-ERROR), ${place}` },
        'broker.channel-failed',
      );
    expect(lines).toHaveLength(10);
    log.warn({ exchange: 'b', reason: 'Channel closed by server: 541 (INTERNAL-ERROR), 1' }, 'broker.channel-failed');
    log.error({ exchange: 'a', reason: 'Channel closed by server: 541 (INTERNAL-ERROR), 1' }, 'broker.other');
    expect(lines).toHaveLength(12);
    clock.now = 60_000;
    for (const place of [1, 2])
      log.warn(
        { exchange: 'a', reason: `Channel closed by server: 541 (INTERNAL-ERROR), ${place}` },
        'broker.channel-failed',
      );
    expect(lines.slice(12).map(({ leftOut }) => leftOut)).toEqual([990, undefined]);
  });

  test.each<[string, (log: ReturnType<typeof aLog>['log']) => void]>([
    ['what it tells of a message', (log) => log.warn({ messageId: 'm', reason: 'r' }, 'message.rejected')],
    ['what it tells of a request', (log) => log.error({ requestId: 'r' }, 'request.failed')],
    ['what is no trouble', (log) => log.info({ reason: 'r' }, 'delivery.attempted')],
    ['why a process ends', (log) => log.fatal({ reason: 'r' }, 'process.failed')],
  ])('says each time %s', (_what, say) => {
    const { log, lines } = aLog();
    for (let place = 0; place < 50; place += 1) say(log);
    expect(lines).toHaveLength(50);
  });
});

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
