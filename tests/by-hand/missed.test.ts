import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { findMissed } from '@waybell/subscription-api/by-hand/missed';
import { askForReplay, countReplay, type RangedReplay } from '@waybell/subscription-api/by-hand/replays';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { timelineOf } from '@waybell/delivery-log/read/history';
import { whyNoSubscription } from '@waybell/delivery-log/read/no-subscription';
import { subscriptionsOf } from '@waybell/delivery-log/read/subscriptions';
import { messageGuid } from '@waybell/notifications/notification';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aDelivered, anExhausted, aRouted } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';
import { ByHandStand } from './by-hand-stand.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const stand = shared(() => ByHandStand.start());
let client: ClientReader;
let now: number;

beforeEach(async () => {
  client = await stand.someone('1 day');
  now = wallClockMs();
});

/** Subscribed so long ago. */
async function subscribed(agoMs: number): Promise<string> {
  const guid = await stand.subscribe(client.account, 'order.created');
  await stand.rows(`update waybell.subscriptions set created_at = to_timestamp($2::float8 / 1000) where guid = $1`, [
    guid,
    now - agoMs,
  ]);
  return guid;
}

/** Noted at that time, as it would have been. */
async function changed(guid: string, agoMs: number, change: string): Promise<void> {
  await stand.rows(`update waybell.subscriptions set ${change} where guid = $1`, [guid]);
  await stand.rows(
    `update waybell.audit_log set at = to_timestamp($2::float8 / 1000)
     where id = (select max(id) from waybell.audit_log where subject_guid = $1)`,
    [guid, now - agoMs],
  );
}

const switchOff = (guid: string, agoMs: number) =>
  changed(
    guid,
    agoMs,
    `is_active = false, deactivation_rule = 'exhausted', deactivated_at = to_timestamp(${now - agoMs}::float8 / 1000)`,
  );
const switchOn = (guid: string, agoMs: number) =>
  changed(guid, agoMs, 'is_active = true, deactivation_rule = null, deactivated_at = null');
const end = (guid: string, agoMs: number) =>
  changed(guid, agoMs, `is_active = false, ended_at = to_timestamp(${now - agoMs}::float8 / 1000)`);

/** An event that came so long ago, for an account that had no subscription that was on. */
async function cameInVain(agoMs: number, { id = 4711 }: { id?: number } = {}): Promise<string> {
  const event = randomUUID();
  const { account } = client;
  const body = `{"guid":"${event}","interface":"carrier","action":"order.created","occurred_at":"2026-11-20T09:30:00.123456Z","parties":{"carrier":"${account}"},"payload":{"id":${id},"status":"new"}}`;
  const routed = aRouted({
    event,
    at: now - agoMs,
    keys: [{ kind: 'order_id', key: String(id) }],
    receivers: [account],
    suppressed: [{ reason: 'no_subscription', account }],
    kept: { accounts: [account], body, contentType: 'application/json' },
  });
  await stand.write([routed]);
  return event;
}

const request = (what: Partial<RangedReplay> = {}): RangedReplay => ({
  of: { action: 'order.created' },
  sinceMs: now - 24 * HOUR_MS,
  untilMs: now + HOUR_MS,
  perSecond: 1_000,
  includesSuppressed: true,
  ...what,
});

async function counted(what: Partial<RangedReplay> = {}) {
  const found = await countReplay(stand.store.postgres, request(what), client);
  if (found.kind === 'refused') throw new Error(found.why);
  return found;
}

const send = () => stand.sent();

/** Returns the causes that are shown for an event without deliveries. */
async function causesOf(key: string, reader: ClientReader | 'operator' = client) {
  const { entries } = await timelineOf(stand.store.postgres, { about: { key }, reader, limit: 10 });
  return entries.flatMap(({ verdicts }) =>
    verdicts.flatMap((verdict) => (verdict.kind === 'suppressed' ? [verdict.noSubscription] : [])),
  );
}

test('a subscription is told with each of its times, and not with a pause that is over', async () => {
  const guid = await subscribed(10 * HOUR_MS);
  const ago = (hours: number) => `to_timestamp(${now - hours * HOUR_MS}::float8 / 1000)`;
  const set = (change: string) => stand.rows(`update waybell.subscriptions set ${change} where guid = $1`, [guid]);
  const told = async () => (await subscriptionsOf(stand.store.postgres, { subscription: guid }))[0];
  await set(`failing_since = ${ago(3)}, last_failure_at = ${ago(1)}, last_success_at = ${ago(5)}`);
  expect(await told()).toMatchObject({
    createdAt: now - 10 * HOUR_MS,
    endedAt: null,
    pausedUntil: null,
    failingSince: now - 3 * HOUR_MS,
    lastSuccessAt: now - 5 * HOUR_MS,
  });
  await set(`paused_until = ${ago(-1)}`);
  expect(await told()).toMatchObject({ pausedUntil: now + HOUR_MS });
  await set(`paused_until = ${ago(1)}`);
  expect(await told()).toMatchObject({ pausedUntil: null });
});

describe('no_subscription', () => {
  test('is told as what it was: never subscribed, not yet, switched off, and ended', async () => {
    await cameInVain(10 * HOUR_MS, { id: 1 });
    expect(await causesOf('1')).toEqual([{ cause: 'never_subscribed' }]);
    const guid = await subscribed(9 * HOUR_MS);
    expect(await causesOf('1')).toEqual([{ cause: 'subscribed_later', subscription: guid, at: now - 9 * HOUR_MS }]);

    await switchOff(guid, 8 * HOUR_MS);
    await cameInVain(7 * HOUR_MS, { id: 2 });
    const off = { cause: 'switched_off', subscription: guid, at: now - 8 * HOUR_MS, rule: 'exhausted' };
    expect(await causesOf('2')).toEqual([off]);

    await end(guid, 6 * HOUR_MS);
    await cameInVain(5 * HOUR_MS, { id: 3 });
    await subscribed(4 * HOUR_MS);
    expect(await causesOf('3')).toEqual([{ cause: 'ended', subscription: guid, at: now - 6 * HOUR_MS }]);
    // Later changes do not affect earlier events.
    expect(await causesOf('2', 'operator')).toEqual([off]);
  });

  test('is told by the last of several times that it was switched', async () => {
    const guid = await subscribed(9 * HOUR_MS);
    await switchOff(guid, 8 * HOUR_MS);
    await switchOn(guid, 7 * HOUR_MS);
    await switchOff(guid, 6 * HOUR_MS);
    await cameInVain(5 * HOUR_MS, { id: 4 });
    expect(await causesOf('4')).toEqual([
      { cause: 'switched_off', subscription: guid, at: now - 6 * HOUR_MS, rule: 'exhausted' },
    ]);
  });

  test('is told of each client by itself, and of later subscriptions the first', async () => {
    const theirs = await subscribed(9 * HOUR_MS);
    await stand.rows(`update waybell.subscriptions set client_id = 'other' where guid = $1`, [theirs]);
    await end(theirs, 8 * HOUR_MS);
    const first = await subscribed(4 * HOUR_MS);
    await end(first, 3 * HOUR_MS);
    await subscribed(2 * HOUR_MS);
    const unsent = { account: client.account, action: 'order.created', at: now - 5 * HOUR_MS };
    const of = ['default', 'other'].map((each) => ({ ...unsent, client: each }));
    expect(await whyNoSubscription(stand.store.postgres, of)).toEqual([
      { cause: 'subscribed_later', subscription: first, at: now - 4 * HOUR_MS },
      { cause: 'ended', subscription: theirs, at: now - 8 * HOUR_MS },
    ]);
  });

  test('tells an account that is not known from one without a subscription', async () => {
    client = { ...client, account: randomUUID() };
    await cameInVain(HOUR_MS, { id: 77_001 });
    expect(await causesOf('77001', 'operator')).toEqual([{ cause: 'unknown_account' }]);
  });

  test('tells a client what it missed itself, where another of its account had a subscription', async () => {
    const guid = await subscribed(9 * HOUR_MS);
    await end(guid, 8 * HOUR_MS);
    await stand.rows(`update waybell.subscriptions set client_id = 'other' where guid = $1`, [
      await subscribed(9 * HOUR_MS),
    ]);
    await stand.log([], { ...client, client: 'other', at: now - HOUR_MS, subject: '77002' });
    expect(await causesOf('77002')).toEqual([{ cause: 'ended', subscription: guid, at: now - 8 * HOUR_MS }]);
  });
});

describe('a replay with what was suppressed', () => {
  test('counts by reason what came while there was no subscription that was on', async () => {
    await cameInVain(10 * HOUR_MS);
    const guid = await subscribed(9 * HOUR_MS);
    await switchOff(guid, 8 * HOUR_MS);
    await cameInVain(7 * HOUR_MS);
    await cameInVain(7 * HOUR_MS - 1);
    await stand.log([anExhausted({ at: now - 8 * HOUR_MS, body: '{}' })], {
      ...client,
      subscription: guid,
      at: now - 8 * HOUR_MS,
    });
    const { total, reasons } = await counted();
    expect(total).toBe(4);
    expect(new Map(reasons.map(({ reason, count }) => [reason, count]))).toEqual(
      new Map([
        ['subscribed_later', 1],
        ['switched_off', 2],
        ['response_timeout', 1],
      ]),
    );
    expect(
      await counted({ sinceMs: now - 9 * HOUR_MS, untilMs: now - 7 * HOUR_MS, includesSuppressed: false }),
    ).toMatchObject({
      total: 1,
    });
  });

  test('makes each notification of its event, for the subscription that is there now, once', async () => {
    const event = await cameInVain(2 * HOUR_MS, { id: 9_007_199_254 });
    const guid = await subscribed(HOUR_MS);
    const asked = { ...request(), client, by: 'a test' };
    expect(await askForReplay(stand.store.postgres, asked)).toMatchObject({ kind: 'asked' });
    const delivery = messageGuid(event, guid);
    const [sent, ...more] = await send();
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ guid: delivery, subscription: guid, event, attempt: 1 });
    expect(String(sent?.body)).toBe(
      `{"action":"order.created","guid":"${delivery}","occurred_at":"2026-11-20T09:30:00.123456+0000","data":{"id":9007199254,"status":"new"}}`,
    );
    // It has a delivery from now on, which says how it stands.
    expect(await counted()).toMatchObject({ total: 0 });
    await askForReplay(stand.store.postgres, asked);
    expect(await send()).toEqual([]);
  });

  test('finds what was missed behind whatever a rule kept back while the subscription was on', async () => {
    const guid = await subscribed(9 * HOUR_MS);
    for (let place = 1; place <= 3; place += 1) await cameInVain(8 * HOUR_MS - place);
    await end(guid, 7 * HOUR_MS);
    const event = await cameInVain(6 * HOUR_MS);
    const query = { ...request(), client, actions: ['order.created'], limit: 1 };
    expect(await findMissed(stand.store.postgres, query)).toMatchObject([{ event, reason: 'ended' }]);
  });

  test('leaves out what was sent to the client, and what it was not to get', async () => {
    const guid = await subscribed(9 * HOUR_MS);
    const event = await cameInVain(HOUR_MS);
    // It came while the subscription was on: another rule kept it back.
    expect(await counted()).toMatchObject({ total: 0 });
    await end(guid, 2 * HOUR_MS);
    expect(await counted()).toMatchObject({ total: 1 });
    await stand.log([], { ...client, event, subscription: guid, at: now - HOUR_MS + 1 });
    expect(await counted()).toMatchObject({ total: 0 });
  });
});

describe('a replay of nothing says why', () => {
  test('that the client never subscribed', async () => {
    expect((await counted({ includesSuppressed: false })).explanation).toMatch(/never subscribed to order\.created/);
  });

  test('that it failed before, and that there is what was suppressed', async () => {
    const subscription = await subscribed(9 * HOUR_MS);
    const at = now - 8 * HOUR_MS;
    await stand.log([anExhausted({ at, body: '{}' })], { ...client, subscription, at });
    await end(subscription, 7 * HOUR_MS);
    await cameInVain(HOUR_MS);
    const { total, explanation } = await counted({ sinceMs: now - 2 * HOUR_MS, includesSuppressed: false });
    expect(total).toBe(0);
    expect(explanation).toContain(`The last one before failed at ${new Date(at).toISOString()}`);
    expect(explanation).toContain('no subscription that was on there are 1: ask with include_suppressed');
  });

  test('that another replay is about to send it', async () => {
    await cameInVain(HOUR_MS);
    await subscribed(0);
    const ask = () => askForReplay(stand.store.postgres, { ...request(), client, by: 'a test' });
    expect(await ask()).not.toHaveProperty('explanation');
    const explanation = expect.stringContaining('Another replay is about to send the failed ones: 1.');
    expect(await ask()).toMatchObject({ explanation });
    expect(await counted()).toEqual({ kind: 'counted', total: 0, reasons: [], explanation });
    await send();
    expect((await counted()).explanation).not.toContain('about to');
  });

  test('that what failed is no longer kept, and which other subscription missed something', async () => {
    const subscription = await subscribed(9 * HOUR_MS);
    const at = now - 8 * HOUR_MS;
    await stand.log([anExhausted({ at })], { ...client, subscription, at });
    await stand.rows('truncate delivery_log.chunks');
    const other = await stand.subscribe(client.account, 'order.updated');
    await stand.log([anExhausted({ at, body: '{}' })], { ...client, subscription: other, at });
    await stand.log([aDelivered({ at })], { ...client, subscription: other, at });
    const least = await stand.subscribe(client.account, 'order.assigned');
    for (const failing of [other, least])
      await stand.log([anExhausted({ at, body: '{}' })], { ...client, subscription: failing, at });
    const { explanation } = await counted();
    expect(explanation).toContain('Failed deliveries of order.created in that time: 1 (no longer kept: 1)');
    // The action of which most failed stands first.
    expect(explanation).toContain(
      `Failed deliveries of order.updated in that time: 2 (subscription ${other}). ` +
        `Failed deliveries of order.assigned in that time: 1 (subscription ${least})`,
    );
  });
});
