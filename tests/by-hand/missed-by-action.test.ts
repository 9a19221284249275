import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Attempted } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createAccount } from '@waybell/subscription-api/accounts';
import { askForResend } from '@waybell/subscription-api/by-hand/ask';
import { replayOf, askForReplay, countReplay } from '@waybell/subscription-api/by-hand/replays';
import { missedByAction } from '@waybell/subscription-api/by-hand/missed-by-action';
import { aDelivered, aDropped, anExhausted, aRouted } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';
import { ByHandStand } from './by-hand-stand.ts';

const HOUR_MS = 3_600_000;

const stand = shared(() => ByHandStand.start());
let client: ClientReader;
let now: number;

beforeEach(async () => {
  client = await stand.someone('2 days');
  now = wallClockMs();
});

/** Subscribed a day ago; where it went off or ended, so long ago. */
async function subscribed(action: string, { offAgoMs, endedAgoMs }: { offAgoMs?: number; endedAgoMs?: number } = {}) {
  const guid = await stand.subscribe(client.account, action);
  const off = offAgoMs === undefined ? null : now - offAgoMs;
  const ended = endedAgoMs === undefined ? null : now - endedAgoMs;
  await stand.rows(
    `update waybell.subscriptions set created_at = now() - interval '1 day', is_active = $2::float8 is null and $3::float8 is null,
       deactivated_at = to_timestamp($2::float8 / 1000), deactivation_rule = case when $2::float8 is not null then 'window' end,
       ended_at = to_timestamp($3::float8 / 1000) where guid = $1`,
    [guid, off, ended],
  );
  // Such notes have the current time.
  await stand.rows('delete from waybell.audit_log where subject_guid = $1', [guid]);
  return guid;
}

/** A delivery of an hour ago that came to this. */
async function cameTo(subscription: string, action: string, attempt: Attempted): Promise<string> {
  const [event, at] = [randomUUID(), now - HOUR_MS];
  const delivery = messageGuid(event, subscription);
  const { account, interface: of } = client;
  const routed = aRouted({
    event,
    at,
    interface: of,
    action,
    receivers: [account],
    deliveries: [{ subscription, account }],
  });
  await stand.write([routed, { ...attempt, at, interface: of, action, event, delivery, subscription }]);
  return delivery;
}

/** An event of an hour ago, of which no delivery was made. */
async function cameInVain(action: string): Promise<void> {
  const event = randomUUID();
  const { account } = client;
  const body = `{"guid":"${event}","interface":"carrier","action":"${action}","occurred_at":"2026-11-20T09:30:00.123456Z","parties":{"carrier":"${account}"},"payload":{"id":1,"status":"new"}}`;
  const kept = { accounts: [account], body, contentType: 'application/json' };
  const suppressed = [{ reason: 'no_subscription' as const, account }];
  await stand.write([aRouted({ event, at: now - HOUR_MS, action, receivers: [account], suppressed, kept })]);
}

const range = (what: { sinceMs?: number; untilMs?: number } = {}) => ({
  client,
  sinceMs: now - 2 * HOUR_MS,
  untilMs: now,
  ...what,
});
const missed = (what = {}) => missedByAction(stand.store.postgres, range(what));
const all = (action = '*') => ({
  of: { action },
  ...range(),
  includesSuppressed: true,
  perSecond: 1_000,
  by: 'a test',
});

const none = { exhausted: 0, dropped: 0, suppressed: 0, gone: 0, reasons: [] };

const send = () => stand.sent();

describe('what a client missed of all its actions', () => {
  test('is told by action: given up, dropped and not sent, and to which subscription a replay goes', async () => {
    const on = await subscribed('order.created');
    const off = await subscribed('order.updated', { offAgoMs: 1.5 * HOUR_MS });
    const ended = await subscribed('damage.created', { endedAgoMs: 0.5 * HOUR_MS });
    await subscribed('order.assigned');
    await cameTo(on, 'order.created', anExhausted());
    await cameTo(on, 'order.created', anExhausted());
    await cameTo(on, 'order.created', aDropped());
    await cameTo(on, 'order.created', aDelivered({ body: '{}' }));
    await cameInVain('order.updated');
    await cameTo(ended, 'damage.created', anExhausted());
    // To this action it has never subscribed.
    await cameInVain('order.cancelled');
    expect(await missed()).toEqual({
      actions: [
        {
          ...none,
          action: 'damage.created',
          subscription: null,
          isActive: false,
          exhausted: 1,
          reasons: [{ reason: 'response_timeout', count: 1 }],
        },
        {
          ...none,
          action: 'order.created',
          subscription: on,
          isActive: true,
          exhausted: 2,
          dropped: 1,
          reasons: [
            { reason: 'response_timeout', count: 2 },
            { reason: 'unsubscribed', count: 1 },
          ],
        },
        {
          ...none,
          action: 'order.updated',
          subscription: off,
          isActive: false,
          suppressed: 1,
          reasons: [{ reason: 'switched_off', count: 1 }],
        },
      ],
      countedUntilMs: null,
    });
    expect(await missed({ untilMs: now - 1.5 * HOUR_MS })).toEqual({ actions: [], countedUntilMs: null });
    expect(await missed({ sinceMs: now - 0.9 * HOUR_MS })).toEqual({ actions: [], countedUntilMs: null });
    const other = { ...client, client: 'other' };
    expect(await missedByAction(stand.store.postgres, { ...range(), client: other })).toMatchObject({ actions: [] });
  });

  test('says how many are there whose body is no longer kept, which no replay sends', async () => {
    const on = await subscribed('order.created');
    const [, gone] = [
      await cameTo(on, 'order.created', anExhausted()),
      await cameTo(on, 'order.created', anExhausted()),
    ];
    await stand.rows('update delivery_log.attempts set place = null where delivery = $1', [gone]);
    expect((await missed()).actions).toMatchObject([{ action: 'order.created', exhausted: 1, gone: 1 }]);
    expect(await countReplay(stand.store.postgres, all(), client)).toMatchObject({ total: 1 });
  });

  test('is counted up to a limit, the oldest first, and says until when', async () => {
    const on = await subscribed('order.created');
    for (let count = 0; count < 3; count++) await cameTo(on, 'order.created', anExhausted());
    const limited = await missedByAction(stand.store.postgres, range(), 2);
    expect(limited).toMatchObject({ actions: [{ exhausted: 2 }], countedUntilMs: now - HOUR_MS });
  });
});

describe('a replay of all actions', () => {
  test('sends what is counted of those that are on, each to its own subscription, as one', async () => {
    const on = await subscribed('order.created');
    const updated = await subscribed('order.updated');
    const off = await subscribed('order.assigned', { offAgoMs: 1.5 * HOUR_MS });
    const deliveries = [
      await cameTo(on, 'order.created', anExhausted({ attempt: 4 })),
      await cameTo(updated, 'order.updated', aDropped()),
    ];
    await cameTo(off, 'order.assigned', anExhausted());
    expect(await countReplay(stand.store.postgres, all(), client)).toMatchObject({
      total: 2,
      reasons: [
        { reason: 'response_timeout', count: 1 },
        { reason: 'unsubscribed', count: 1 },
      ],
    });
    const asked = await askForReplay(stand.store.postgres, all());
    const guid = 'guid' in asked ? asked.guid : '';
    expect(await replayOf(stand.store.postgres, guid, client)).toMatchObject({ action: '*', total: 2, published: 0 });
    const sent = [...(await send()), ...(await send())];
    const told = new Map(sent.map((each) => [each.guid, [each.subscription, each.action, each.attempt]]));
    expect(told).toEqual(
      new Map([
        [deliveries[0], [on, 'order.created', 5]],
        [deliveries[1], [updated, 'order.updated', 1]],
      ]),
    );
    expect(await replayOf(stand.store.postgres, guid, client)).toMatchObject({ total: 2, published: 2 });
    expect(await countReplay(stand.store.postgres, all(), client)).toMatchObject({
      total: 0,
      explanation: expect.stringContaining('Failed deliveries of these actions in that time: 2'),
    });
  });

  test('makes now what was not sent, for the action that it is of', async () => {
    const updated = await subscribed('order.updated');
    await stand.rows(`update waybell.subscriptions set created_at = now() where guid = $1`, [updated]);
    await subscribed('order.created');
    await cameInVain('order.updated');
    await askForReplay(stand.store.postgres, all('order.*'));
    const [sent, ...others] = [...(await send()), ...(await send())];
    expect(sent).toMatchObject({ subscription: updated, action: 'order.updated', attempt: 1 });
    expect(others).toEqual([]);
  });

  test('is refused where no action is on, or none is subscribed', async () => {
    expect(await askForReplay(stand.store.postgres, all())).toMatchObject({ why: 'unsubscribed' });
    await subscribed('order.created', { offAgoMs: HOUR_MS });
    expect(await askForReplay(stand.store.postgres, all())).toMatchObject({ why: 'deactivated' });
    expect(await countReplay(stand.store.postgres, all(), client)).toMatchObject({ why: 'deactivated' });
    await subscribed('damage.created');
    expect(await askForReplay(stand.store.postgres, all('order.*'))).toMatchObject({ why: 'deactivated' });
    expect(await countReplay(stand.store.postgres, all(), client)).toMatchObject({ total: 0 });
  });
});

test('an action is replayed, and sent again, for its own subscription, not for those whose names begin like it', async () => {
  const { guid } = await createAccount(stand.store.postgres, { interface: 'shipper' });
  client = { account: guid, client: 'default', interface: 'shipper' };
  await subscribed('order.picked_up.ignored');
  const other = await subscribed('order.picked_up_bol');
  const own = await subscribed('order.picked_up');
  await cameTo(own, 'order.picked_up', anExhausted());
  const ofOther = await cameTo(other, 'order.picked_up_bol', anExhausted({ body: '{}' }));
  const { postgres } = stand.store;
  expect(await countReplay(postgres, all('order.picked_up'), client)).toMatchObject({ total: 1 });
  expect(await countReplay(postgres, all('order.picked'), client)).toMatchObject({ total: 0 });
  const ofOwn = await cameTo(own, 'order.picked_up', anExhausted({ body: '{}' }));
  const resend = (delivery: string) => askForResend(postgres, { delivery, client, by: 'a test' });
  expect(await resend(ofOwn)).toMatchObject({ subscription: own });
  expect(await resend(ofOther)).toMatchObject({ subscription: other });
});
