import { expect, test } from '@jest/globals';
import { ClockWatch } from './clock-watch.ts';
import { connectPostgres, onConnection } from './postgres.ts';
import { Readiness } from './readiness.ts';
import { borrowPostgres } from './testing/borrow.ts';
import { wallClockMs } from './testing/wall-clock.ts';
import { silentLog as log } from './testing/patience.ts';

const LIMIT_MS = 3_600_000;

test.each([
  [0, 0],
  [2 * LIMIT_MS, 1],
  [-2 * LIMIT_MS, 1],
])('the time that Postgres says is compared with ours, %d ms off', async (offMs, wrong) => {
  const { url } = await borrowPostgres();
  await using postgres = connectPostgres({ url, role: '', poolSize: 1, timeoutMs: 60_000, log });
  const readiness = new Readiness(log);
  await using watch = new ClockWatch({
    ask: (work) => onConnection(postgres, work),
    limitMs: LIMIT_MS,
    readiness,
    log,
    now: () => wallClockMs() + offMs,
  });
  await watch.compare();
  expect(readiness.waitingFor()).toHaveLength(wrong);
});
