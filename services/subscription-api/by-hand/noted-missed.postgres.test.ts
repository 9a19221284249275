import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { inTransaction } from '@waybell/runtime/postgres';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createAccount } from '../accounts.ts';
import { NOTED_MISSED } from './missed.ts';
import { askForReplay, countReplay } from './replays.ts';
import { resetRun } from '../subscriptions.ts';
import { aRouted, LogStand } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const MINUTE_MS = 60_000;

const stand = shared(() => LogStand.start());
let client: ClientReader;
let subscription: string;
let now: number;

beforeAll(async () => {
  stand.now = wallClockMs();
});

beforeEach(async () => {
  await stand.rows('delete from delivery_log.commits');
  const { guid } = await createAccount(stand.store.postgres, { interface: 'carrier' });
  client = { account: guid, client: 'default', interface: 'carrier' };
  now = wallClockMs();
  subscription = await stand.subscribe(guid, 'order.created');
  await change(9 * MINUTE_MS + 1, `created_at = now() - interval '1 hour'`);
  await change(
    8 * MINUTE_MS,
    `is_active = false, deactivation_rule = 'exhausted', deactivated_at = now() - interval '8 minutes'`,
  );
});

/** Noted so long ago. */
async function change(agoMs: number, what: string): Promise<void> {
  await stand.rows(`update waybell.subscriptions s set ${what} where guid = $1`, [subscription]);
  await stand.rows(
    `update waybell.audit_log set at = to_timestamp($2::float8 / 1000)
     where id = (select max(id) from waybell.audit_log where subject_guid = $1)`,
    [subscription, now - agoMs],
  );
}

/** Switched on so long ago. */
async function switchOn(agoMs: number): Promise<void> {
  await change(agoMs, resetRun());
  await stand.rows(
    `update waybell.subscriptions set missed_until = missed_until - $2 * interval '1 millisecond' where guid = $1`,
    [subscription, agoMs],
  );
}

/** The log got it at once, unless it is said when. */
async function cameInVain(agoMs: number, gotAgoMs = agoMs): Promise<string> {
  const [event, { account }] = [randomUUID(), client];
  const body = `{"guid":"${event}","interface":"carrier","action":"order.created","occurred_at":"2026-11-20T09:30:00.123456Z","parties":{"carrier":"${account}"},"payload":{"id":1,"status":"new"}}`;
  const kept = { accounts: [account], body, contentType: 'application/json' };
  const suppressed = [{ reason: 'no_subscription' as const, account }];
  await stand.write([aRouted({ event, at: now - agoMs, keys: [], receivers: [account], suppressed, kept })]);
  await stand.rows(
    `update delivery_log.commits set at = to_timestamp($1::float8 / 1000)
     where number = (select max(number) from delivery_log.commits)`,
    [now - gotAgoMs],
  );
  return event;
}

const request = () => ({ of: { missedBy: subscription }, perSecond: 1_000 });
const replay = (largest?: number) =>
  inTransaction(stand.store.postgres, (postgres) =>
    askForReplay(postgres, { ...request(), client, by: 'me' }, largest),
  );
const counted = () => countReplay(stand.store.postgres, request(), client);
const noted = async () =>
  (
    await stand.rows<{ missed: object | null }>(
      `select ${NOTED_MISSED} as missed from waybell.subscriptions s where guid = $1`,
      [subscription],
    )
  )[0]?.missed;
const toBeSent = async () =>
  (
    await stand.rows<{ event: string }>(
      'select event from delivery_log.sendings where subscription = $1 order by due_at',
      [subscription],
    )
  ).map(({ event }) => event);

describe('a replay of what a subscription noted as missed', () => {
  test('takes all from a minute before it went off, once', async () => {
    const events = [await cameInVain(7 * MINUTE_MS), await cameInVain(5 * MINUTE_MS)];
    await switchOn(3 * MINUTE_MS);
    expect(await counted()).toMatchObject({ kind: 'counted', total: 2 });
    expect(await replay()).toMatchObject({ kind: 'asked' });
    expect(await toBeSent()).toEqual(events);
    expect(await noted()).toBeNull();
    for (const asked of [replay(), counted()]) expect(await asked).toEqual({ kind: 'refused', why: 'nothing_missed' });
  });

  test('is refused while it is off, also where it would only count', async () => {
    await cameInVain(5 * MINUTE_MS);
    for (const asked of [replay(), counted()]) expect(await asked).toEqual({ kind: 'refused', why: 'deactivated' });
  });

  test('takes nothing of before it was subscribed', async () => {
    await change(9 * MINUTE_MS, `created_at = now() - interval '8.5 minutes'`);
    await cameInVain(8.75 * MINUTE_MS);
    const event = await cameInVain(8.25 * MINUTE_MS);
    await switchOn(3 * MINUTE_MS);
    await replay();
    expect(await toBeSent()).toEqual([event]);
  });

  test('takes what came in the moment of the switch, before the router saw it', async () => {
    await switchOn(3 * MINUTE_MS);
    const event = await cameInVain(3 * MINUTE_MS - 2_000);
    await cameInVain(3 * MINUTE_MS - 20_000);
    await replay();
    expect(await toBeSent()).toEqual([event]);
  });

  test('takes what came in the moment after it was off for even less', async () => {
    await stand.rows(
      `update waybell.audit_log set at = to_timestamp($2::float8 / 1000)
       where id = (select max(id) from waybell.audit_log where subject_guid = $1)`,
      [subscription, now - 3 * MINUTE_MS - 400],
    );
    await switchOn(3 * MINUTE_MS);
    const event = await cameInVain(3 * MINUTE_MS - 20);
    await replay();
    expect(await toBeSent()).toEqual([event]);
  });

  test('that is asked for at once leaves what the log gets late to the next one', async () => {
    const first = await cameInVain(5 * MINUTE_MS);
    await switchOn(0);
    expect(await replay()).toMatchObject({ kind: 'asked' });
    expect(await replay()).toEqual({ kind: 'refused', why: 'nothing_missed' });
    const late = await cameInVain(1_000);
    expect(await counted()).toEqual({ kind: 'refused', why: 'nothing_missed' });
    await stand.rows(`update waybell.subscriptions set missed_until = now() where guid = $1`, [subscription]);
    expect(await replay()).toMatchObject({ kind: 'asked' });
    expect(await toBeSent()).toEqual([first, late]);
    expect(await noted()).toBeNull();
  });

  test('takes what the log got long after it was asked for, once', async () => {
    const early = await cameInVain(5 * MINUTE_MS);
    await switchOn(3 * MINUTE_MS);
    expect(await replay()).toMatchObject({ kind: 'asked' });
    expect(await noted()).toBeNull();
    await stand.rows(
      `update waybell.subscriptions set missed_replayed_at = now() - interval '90 seconds' where guid = $1`,
      [subscription],
    );
    const late = await cameInVain(6 * MINUTE_MS, 0);
    expect(await noted()).toMatchObject({ sinceMs: expect.any(Number) });
    expect(await replay()).toMatchObject({ kind: 'asked' });
    expect(new Set(await toBeSent())).toEqual(new Set([early, late]));
    expect(await replay()).toEqual({ kind: 'refused', why: 'nothing_missed' });
  });

  test('takes the oldest part where there is more than one takes, and the next one goes on there', async () => {
    const events: string[] = [];
    for (const minutes of [7, 6, 5]) events.push(await cameInVain(minutes * MINUTE_MS));
    await switchOn(3 * MINUTE_MS);
    await replay(2);
    expect(await toBeSent()).toEqual(events.slice(0, 2));
    expect(await noted()).not.toBeNull();
    await replay(2);
    expect(new Set(await toBeSent())).toEqual(new Set(events));
    expect(await noted()).toBeNull();
  });

  test('is done by one of several that ask at once', async () => {
    const event = await cameInVain(5 * MINUTE_MS);
    await switchOn(3 * MINUTE_MS);
    const kinds = (await Promise.all([replay(), replay(), replay()])).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['asked', 'refused', 'refused']);
    expect(await toBeSent()).toEqual([event]);
  });

  test('is refused, and stays noted, where the subscription is off once more', async () => {
    await cameInVain(5 * MINUTE_MS);
    await switchOn(3 * MINUTE_MS);
    await change(2 * MINUTE_MS, 'is_active = false');
    expect(await replay()).toEqual({ kind: 'refused', why: 'deactivated' });
    expect(await noted()).not.toBeNull();
  });
});
