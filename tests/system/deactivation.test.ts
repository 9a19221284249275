import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anEvent } from '../testing/event.ts';
import { integrator, type Integrator } from '../testing/integrator.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver, type Received } from '../testing/receiver.ts';
import { logOf, replicaOf } from '../testing/replica.ts';
import { Standstill } from '../testing/standstill.ts';
import { TestStack } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

const WINDOW_MS = 2_000;
const ASK_PAUSE_MS = 20;

let stack: TestStack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await TestStack.start({
    ...PATIENT,
    SHIPPER_RETRY_DELAYS: '100ms,100ms,100ms,100ms,100ms',
    CARRIER_RETRY_DELAYS: '100ms,100ms,100ms',
    DEACTIVATION_WINDOW: `${WINDOW_MS}ms`,
    LOG_LEVEL: 'debug',
  });
  receiver = await Receiver.start();
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const aCarrier = () => integrator({ stack, receiver, interfaceName: 'carrier' });
const aShipper = () => integrator({ stack, receiver, interfaceName: 'shipper' });
const wallClock = ({ at }: Received) => performance.timeOrigin + at;

/** Starts the deactivator again, with these rules. */
async function withRules(rules: { exhausted: string; window: string }): Promise<void> {
  const deactivator = stack.stack.service('deactivator');
  Object.assign(deactivator.spec.env, { DEACTIVATE_ON_EXHAUSTED: rules.exhausted, DEACTIVATE_ON_WINDOW: rules.window });
  await deactivator.restart();
}

/**
 * Does this, and says how long the machine stood still at most meanwhile: services, this process, and the servers, which
 * are asked for something that they have to write down, again and again.
 */
async function withStandstill<T>(work: () => Promise<T>): Promise<{ result: T; standstillMs: number }> {
  using standstill = await Standstill.watch(['deliverer', 'deactivator'].map((name) => stack.stack.service(name)));
  const ended = new AbortController();
  const nobody = { interface: 'carrier', action: 'order.created', parties: { carrier: randomUUID() } } as const;
  const servers = [
    longestMs(() => stack.postgres.query(`select pg_logical_emit_message(true, 'test', '')`), ended.signal),
    longestMs(() => stack.upstream.publish(anEvent(nobody)), ended.signal),
  ];
  const result = await work().finally(() => ended.abort());
  return { result, standstillMs: Math.max(await standstill.longestMs(), ...(await Promise.all(servers))) };
}

async function longestMs(ask: () => Promise<unknown>, signal: AbortSignal): Promise<number> {
  let longest = 0;
  while (!signal.aborted) {
    const askedAt = performance.now();
    await ask();
    longest = Math.max(longest, performance.now() - askedAt);
    await sleep(ASK_PAUSE_MS);
  }
  return longest;
}

/** Fails until it is off; resolves with the first request. */
async function failUntilOff(carrier: Integrator): Promise<Received | undefined> {
  carrier.answer(500);
  const before = receiver.at(carrier.path).length;
  await until('the subscription is off', async () => {
    await carrier.hear();
    return !(await carrier.standing()).is_active;
  });
  return receiver.at(carrier.path)[before];
}

describe('a subscription, while only exhausted deliveries switch off', () => {
  beforeAll(() => withRules({ exhausted: 'carrier', window: 'none' }));

  test("is off within a second of the last attempt's failure", async () => {
    const carrier = await aCarrier();
    carrier.answer(500);
    const { result, standstillMs } = await withStandstill(async () => {
      await carrier.hear();
      return { last: (await carrier.untilAsked(4))[3], off: await carrier.untilOff() };
    });
    const { last, off } = result;
    expect(off.deactivation_rule).toBe('exhausted');
    const tookMs = last && off.deactivated_at.getTime() - wallClock(last);
    expect(Number(tookMs) - standstillMs).toBeLessThan(1_000);
  });

  test('stays on where a retry makes it good', async () => {
    const carrier = await aCarrier();
    carrier.answer((response, { headers }) =>
      response.writeHead(headers['x-webhook-attempt'] === '4' ? 200 : 500).end(),
    );
    await carrier.hear();
    await carrier.untilAsked(4);
    carrier.answer(200);
    await carrier.hear();
    await carrier.untilAsked(5);
    expect(await carrier.standing()).toMatchObject({ is_active: true });
  });

  test('of a shipper is never off', async () => {
    const shipper = await aShipper();
    shipper.answer(500);
    await shipper.hear();
    await shipper.untilAsked(6);
    await failUntilOff(await aCarrier());
    expect(await shipper.standing()).toMatchObject({ is_active: true });
  });

  test('made anew stays on when the last attempt for the old one fails after that', async () => {
    const carrier = await aCarrier();
    const failLate = Promise.withResolvers<() => void>();
    carrier.answer((response, { headers }) => {
      const fail = () => response.writeHead(500).end();
      if (headers['x-webhook-attempt'] === '4') failLate.resolve(fail);
      else fail();
    });
    await carrier.hear();
    const fail = await failLate.promise;
    const anew = await carrier.subscribeAgain();
    fail();
    await failUntilOff(await aCarrier());
    await carrier.hear();
    expect(await receiver.untilReceived(anew.path, 1)).toHaveLength(1);
  });
});

describe('a subscription, while only the window switches off', () => {
  beforeAll(() => withRules({ exhausted: 'none', window: 'carrier' }));

  test('is off once all has failed for the length of the window, not before', async () => {
    const carrier = await aCarrier();
    const { result: first, standstillMs } = await withStandstill(() => failUntilOff(carrier));
    const { deactivation_rule, deactivated_at } = await carrier.untilOff();
    expect(deactivation_rule).toBe('window');
    const failedMs = deactivated_at.getTime() - (first === undefined ? 0 : wallClock(first));
    expect(failedMs).toBeGreaterThanOrEqual(WINDOW_MS - 50);
    expect(failedMs - standstillMs).toBeLessThan(WINDOW_MS * 5);
  });

  test('counts from the last success', async () => {
    // However long the machine takes until the success, only what comes after it may switch off.
    await withRules({ exhausted: 'none', window: 'none' });
    const carrier = await aCarrier();
    carrier.answer(500);
    await carrier.hear();
    await carrier.untilAsked(4);
    carrier.answer(200);
    await carrier.hear();
    const success = (await carrier.untilAsked(5))[4];
    await until('the success is noted', async () => (await carrier.standing()).last_success_at !== null);
    await withRules({ exhausted: 'none', window: 'carrier' });
    await failUntilOff(carrier);
    const { deactivated_at } = await carrier.untilOff();
    expect(success && deactivated_at.getTime() - wallClock(success)).toBeGreaterThanOrEqual(WINDOW_MS - 50);
  });

  test('of a shipper is never off', async () => {
    const shipper = await aShipper();
    shipper.answer(500);
    await shipper.hear();
    await shipper.untilAsked(6);
    await failUntilOff(await aCarrier());
    expect(await shipper.standing()).toMatchObject({ is_active: true });
  });
});

describe('a shipper subscription, while the rules are on for shippers', () => {
  test('is off when a delivery has exhausted its attempts', async () => {
    await withRules({ exhausted: 'shipper,carrier', window: 'none' });
    const shipper = await aShipper();
    shipper.answer(500);
    await shipper.hear();
    await shipper.untilAsked(6);
    expect(await shipper.untilOff()).toMatchObject({ deactivation_rule: 'exhausted' });
  });

  test('that was replaced stays on when the last attempt at its old address fails after that', async () => {
    const shipper = await aShipper();
    const failLate = Promise.withResolvers<() => void>();
    shipper.answer((response, { headers }) => {
      const fail = () => response.writeHead(500).end();
      if (headers['x-webhook-attempt'] === '6') failLate.resolve(fail);
      else fail();
    });
    await shipper.hear();
    const fail = await failLate.promise;
    await shipper.subscribeAgain();
    fail();
    await failUntilOff(await aCarrier());
    expect(await shipper.standing()).toMatchObject({ is_active: true });
  });

  test('is off when all has failed for the length of the window', async () => {
    await withRules({ exhausted: 'none', window: 'shipper' });
    const shipper = await aShipper();
    await failUntilOff(shipper);
    expect(await shipper.untilOff()).toMatchObject({ deactivation_rule: 'window' });
  });
});

describe('two deactivators', () => {
  test('switch each subscription off once', async () => {
    await withRules({ exhausted: 'carrier', window: 'carrier' });
    const first = stack.stack.service('deactivator');
    const second = await replicaOf(first);
    try {
      const carriers = await Promise.all(Array.from({ length: 20 }, aCarrier));
      for (const carrier of carriers) carrier.answer(500);
      await Promise.all(carriers.flatMap((carrier) => [carrier.hear(), carrier.hear(), carrier.hear()]));
      const off = await Promise.all(carriers.map((carrier) => carrier.untilOff()));
      const guids = new Set(off.map(({ guid }) => guid));
      const logs = () => [first, second].map(({ spec }) => logOf(spec));
      await until('both have written that they handled something', () =>
        logs().every((log) => log.some(({ msg }) => msg === 'message.handled')),
      );
      const announced = () =>
        logs()
          .flat()
          .filter(({ msg, subscription }) => msg === 'subscription.deactivated' && guids.has(String(subscription)));
      await until('each is announced', () => announced().length >= carriers.length);
      expect(announced()).toHaveLength(carriers.length);
    } finally {
      await second.stop();
    }
  });
});
