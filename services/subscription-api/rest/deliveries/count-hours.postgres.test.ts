import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { createAccount } from '../../accounts.ts';
import { countHours, HOUR_MS } from './count-hours.ts';
import {
  aDelivered,
  aDropped,
  aFailed,
  anExhausted,
  aRouted,
  LogStand,
  START,
} from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const MINUTE_MS = 60_000;
const HOUR = START - (START % HOUR_MS);
const NONE = { delivered: 0, retried: 0, given_up: 0, suppressed: 0 };
const actions = ['order.created', 'order.updated'];

const stand = shared(() => LogStand.start());
let reader: ClientReader;
let subscription: string;

beforeEach(async () => {
  const { guid } = await createAccount(stand.store.postgres, { interface: 'carrier' });
  reader = { account: guid, client: 'default', interface: 'carrier' };
  subscription = await stand.subscribe(guid, 'order.created');
});

/** Returns the counts of an action, by the number of hours before the current one. */
async function counted(action = 'order.created', { now = START, count = countHours() } = {}) {
  const statistics = await count(stand.store.postgres, { reader, actions, now });
  const found = statistics.actions.find((each) => each.action === action);
  if (found === undefined) return undefined;
  const told = found.buckets.map(({ at, ...counts }): [number, typeof NONE] => [(HOUR - at) / HOUR_MS, counts]);
  return Object.fromEntries(told.filter(([, counts]) => Object.values(counts).some((each) => each > 0)));
}

const ofClient = () => ({ account: reader.account, subscription });

/** The router's verdict on an event that is kept, with or without a delivery. */
async function routed(at: number, to?: string) {
  const { account } = reader;
  const deliveries = to === undefined ? [] : [{ subscription: to, account }];
  const kept = { accounts: [account], body: '{}', contentType: 'application/json' };
  await stand.write([aRouted({ at, receivers: [account], deliveries, kept })]);
}

describe('what became of deliveries', () => {
  test('counts in the hour in which each attempt ended, whatever hour it was made in', async () => {
    const made = HOUR - 2 * HOUR_MS - MINUTE_MS;
    const at = (minutes: number) => made + minutes * MINUTE_MS;
    await stand.log([aDelivered({ at: made + 20 })], { ...ofClient(), at: made });
    await stand.log(
      [aFailed({ at: at(0.1) }), aFailed({ at: at(2), attempt: 2 }), aDelivered({ at: at(70), attempt: 3 })],
      {
        ...ofClient(),
        at: made,
      },
    );
    await stand.log([aFailed({ at: at(2) }), anExhausted({ at: at(70), attempt: 2 })], { ...ofClient(), at: made });
    await stand.log([aDropped({ at: at(130) })], { ...ofClient(), at: made });
    expect(await counted()).toEqual({
      3: { ...NONE, delivered: 1, retried: 1 },
      2: { ...NONE, retried: 2 },
      1: { ...NONE, delivered: 1, given_up: 1 },
      0: { ...NONE, given_up: 1 },
    });
  });

  test('counts once what was written twice', async () => {
    const logged = await stand.log([aDelivered({ at: START })], ofClient());
    await stand.log([aDelivered({ at: START })], logged);
    const rows = await stand.rows('select from delivery_log.attempts where delivery = $1', [logged.delivery]);
    expect(rows).toHaveLength(1);
    expect(await counted()).toEqual({ 0: { ...NONE, delivered: 1 } });
  });

  test('counts no test by hand, and what was sent again by hand', async () => {
    await stand.log([aDelivered({ byHand: 'test' })], ofClient());
    await stand.log([anExhausted({ at: START - HOUR_MS }), aDelivered({ byHand: 'resend', attempt: 2 })], {
      ...ofClient(),
      at: START - HOUR_MS,
    });
    expect(await counted()).toEqual({ 1: { ...NONE, given_up: 1 }, 0: { ...NONE, delivered: 1 } });
  });

  test("is the client's own, and of the last 24 whole hours", async () => {
    await stand.log([aDelivered()]);
    const [first, before] = [HOUR - 24 * HOUR_MS, HOUR - 24 * HOUR_MS - 1];
    for (const at of [first, before]) await stand.log([aDelivered({ at })], { ...ofClient(), at });
    expect(await counted()).toEqual({ 24: { ...NONE, delivered: 1 } });
  });
});

describe('events', () => {
  test('count as suppressed where they made no delivery for the client', async () => {
    await routed(START, subscription);
    await routed(START - HOUR_MS);
    await routed(START - HOUR_MS, randomUUID());
    expect(await counted()).toEqual({ 1: { ...NONE, suppressed: 2 } });
  });
});

describe('events of an action that is subscribed', () => {
  test('count where as many deliveries were made of others', async () => {
    await routed(START, subscription);
    await routed(START);
    await stand.log([], ofClient());
    expect(await counted()).toEqual({ 0: { ...NONE, suppressed: 1 } });
  });
});

describe('an action', () => {
  test('is told with every hour while there is a subscription, and without one where there is something of it', async () => {
    const asked = { reader, actions, now: START };
    const [only, ...others] = (await countHours()(stand.store.postgres, asked)).actions;
    expect([only?.action, others]).toEqual(['order.created', []]);
    expect(only?.buckets.map(({ at }) => (HOUR - at) / HOUR_MS)).toEqual(Array.from({ length: 25 }, (_, i) => 24 - i));
    await stand.rows('update waybell.subscriptions set is_active = false, ended_at = now() where guid = $1', [
      subscription,
    ]);
    expect(await counted()).toBeUndefined();
    await stand.log([aDelivered()], ofClient());
    expect(await counted()).toEqual({ 0: { ...NONE, delivered: 1 } });
  });
});

describe('an hour that is over', () => {
  test('is not read again at once, and one that is just over is', async () => {
    const count = countHours();
    const now = HOUR + 4 * MINUTE_MS;
    await counted('order.created', { now, count });
    for (const at of [HOUR - 1, HOUR - HOUR_MS - 1]) await stand.log([aDelivered({ at })], { ...ofClient(), at });
    expect(await counted('order.created', { now, count })).toEqual({ 1: { ...NONE, delivered: 1 } });
    expect(await counted('order.created', { now })).toEqual({
      1: { ...NONE, delivered: 1 },
      2: { ...NONE, delivered: 1 },
    });
  });
});
