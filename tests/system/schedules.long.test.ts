import { beforeAll, describe, expect, test } from '@jest/globals';
import { anEvent } from '../testing/event.ts';
import { PATIENT_BUT_WITH_CARRIERS } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';

// Not 60 s, so that a receiver that never answers can be waited for.
const SHIPPER_RESPONSE_LIMIT_MS = 5_000;
const SHIPPER_INTERVAL_MS = 60_000;
const CARRIER_LIMIT_MS = 3_000;
const CARRIER_FIRST_DELAY_MS = 1_000;
// Times are written down in whole milliseconds, some by the clock, which may be set right meanwhile, and some by the timer.
const CLOCK_MS = 50;

const stack = shared(() =>
  TestStack.start({ ...PATIENT_BUT_WITH_CARRIERS, SHIPPER_RESPONSE_LIMIT: `${SHIPPER_RESPONSE_LIMIT_MS}ms` }),
);
const receiver = shared(() => Receiver.start());

const answerAfter = (ms: number, path = `/after-${ms}`) => {
  receiver.answer(path, (response) => void setTimeout(() => response.writeHead(200).end(), ms));
  return path;
};

async function notify(interfaceName: 'shipper' | 'carrier', path: string): Promise<void> {
  const action = interfaceName === 'shipper' ? 'order.paid' : 'order.created';
  const client = await stack.client(interfaceName);
  await client.subscribe(action, receiver.url(path));
  await stack.upstream.publish(
    anEvent({ interface: interfaceName, action, parties: { [interfaceName]: client.account } }),
  );
}

type Attempt = { kind: string; reason: string | null; isConnected: boolean; beganAt: number; endedAt: number };

/**
 * The attempts at a path as the deliverer wrote them down, once there are so many: a receiver on a busy machine may see a
 * request long after its limit began to run.
 */
async function attemptsAt(path: string, count: number): Promise<Attempt[]> {
  const subscription = await stack.subscriptionAt(receiver.url(path));
  return until(`${count} attempts at ${path} are written down`, async () => {
    const { rows } = await stack.postgres.query<Attempt>(
      `select kind, reason, connect_ms is not null as "isConnected", ended::float8 as "endedAt", (ended - duration_ms)::float8 as "beganAt"
       from (select *, extract(epoch from at) * 1000 as ended from delivery_log.attempts where subscription = $1) a
       order by attempt`,
      [subscription],
    );
    return rows.length >= count && rows;
  });
}

// All wait at the same time.
beforeAll(async () => {
  receiver.answer('/fails', 500);
  receiver.answer('/hangs', () => undefined);
  await notify('shipper', '/fails');
  await notify('shipper', '/hangs');
  await notify('carrier', answerAfter(3_500));
});

describe('a carrier receiver', () => {
  test('that answers after 3.5 s has failed, and is asked again a second after the limit of 3 s', async () => {
    await receiver.untilReceived('/after-3500', 2);
    const [first, second] = await attemptsAt('/after-3500', 2);
    if (first === undefined || second === undefined) throw new Error('two attempts');
    expect(first).toMatchObject({ kind: 'failed', reason: 'response_timeout' });
    expect(first.endedAt - first.beganAt).toBeGreaterThanOrEqual(CARRIER_LIMIT_MS - CLOCK_MS);
    expect(second.beganAt - first.endedAt).toBeGreaterThanOrEqual(CARRIER_FIRST_DELAY_MS - CLOCK_MS);
  });

  test('that answers after 2.5 s has succeeded', async () => {
    // The answer does come too late if the machine adds half a second: then, and only then, it is tried again.
    const tooLate: Attempt[] = [];
    const path = await until('an answer after 2.5 s was in time', async () => {
      const tried = answerAfter(2_500, `/${tooLate.length}`);
      await notify('carrier', tried);
      const [first] = await attemptsAt(tried, 1);
      if (first?.kind === 'delivered') return tried;
      if (first !== undefined) tooLate.push(first);
      return false;
    });
    // Not even a connection is made in time if it adds more.
    const isConnecting = ({ reason, isConnected }: Attempt) => reason === 'connect_timeout' && !isConnected;
    const answeredLate = tooLate.filter((attempt) => !isConnecting(attempt));
    expect(answeredLate.filter(({ reason }) => reason !== 'response_timeout')).toEqual([]);
    expect(tooLate.filter(({ beganAt, endedAt }) => endedAt - beganAt < CARRIER_LIMIT_MS - CLOCK_MS)).toEqual([]);
    // This one would have been asked twice by the time another is asked a third time.
    receiver.answer('/fails-beside', 500);
    await notify('carrier', '/fails-beside');
    await receiver.untilReceived('/fails-beside', 3);
    expect(receiver.at(path)).toHaveLength(1);
  });
});

describe('a shipper receiver', () => {
  test('that fails is asked again after 60 s, never before', async () => {
    const requests = await receiver.untilReceived('/fails', 2);
    expect(requests[1]?.headers['x-webhook-attempt']).toBe('2');
    const [first, second] = await attemptsAt('/fails', 2);
    if (first === undefined || second === undefined) throw new Error('two attempts');
    expect(second.beganAt - first.endedAt).toBeGreaterThanOrEqual(SHIPPER_INTERVAL_MS - CLOCK_MS);
  });

  test('that never answers is given up at the limit, and asked again 60 s after that', async () => {
    await receiver.untilReceived('/hangs', 2);
    const [first, second] = await attemptsAt('/hangs', 2);
    if (first === undefined || second === undefined) throw new Error('two attempts');
    expect(first).toMatchObject({ kind: 'failed', reason: 'response_timeout' });
    expect(first.endedAt - first.beganAt).toBeGreaterThanOrEqual(SHIPPER_RESPONSE_LIMIT_MS - CLOCK_MS);
    expect(second.beganAt - first.endedAt).toBeGreaterThanOrEqual(SHIPPER_INTERVAL_MS - CLOCK_MS);
  });
});
