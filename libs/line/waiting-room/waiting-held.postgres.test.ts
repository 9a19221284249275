import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { WaitingStore } from './waiting-store.ts';
import { subscribeTo } from './testing/waiting-deliveries.ts';
import { aRow, hex, PostgresStand, type Place } from './testing/waiting-stand.ts';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => PostgresStand.start());
let store: WaitingStore;
beforeAll(async () => {
  store = stand.store();
});

afterEach(async () => {
  await stand.empty();
  await stand.sql('delete from waybell.stopped_hosts');
});

const HOUR_MS = 3_600_000;

/** Something waits for this URL, and for the subscription itself; nothing of it is due. */
async function subscribed(
  callbackUrl: string,
): Promise<{ endpoint: Place; own: Place; change: (what: string) => Promise<unknown> }> {
  const account = randomUUID();
  const subscription = await subscribeTo(stand.database.postgres, callbackUrl, account);
  const [room] = await stand.sql<{ room: string }>(`select encode(uuid_send(waybell.room_of($1, $2)), 'hex') as room`, [
    account,
    callbackUrl,
  ]);
  const endpoint = { room: room?.room ?? '', account, subscription };
  const own = { ...endpoint, room: hex(subscription) };
  await store.put([endpoint, own].map((place) => aRow(place, 'a', { why: 'paused', afterMs: HOUR_MS })));
  const change = (what: string) =>
    stand.sql(`update waybell.subscriptions set ${what} where guid = $1`, [subscription]);
  return { endpoint, own, change };
}

const changesOf = async (...places: Place[]) =>
  Promise.all(places.map(async ({ room }) => (await stand.room(room))?.changes));

describe('the rooms of an endpoint and of a subscription are looked through', () => {
  test.each([
    [`paused_until = now() + interval '1 hour'`],
    [`stopped_at = now(), stopped_reason = 'r'`],
    [`callback_url = 'https://elsewhere.test'`],
    ['is_active = false, ended_at = now()'],
  ])('once: %s', async (what) => {
    const { endpoint, own, change } = await subscribed('https://a.test/hook');
    const other = await subscribed('https://a.test/hook');
    await change(what);
    await change(`last_success_at = now()`);
    expect(await changesOf(endpoint, own, other.endpoint, other.own)).toEqual([1, 1, 0, 0]);
    expect(await stand.room(own.room)).toMatchObject({ isDue: true });
  });

  test('where its host is stopped, and where that is started again, however it is written', async () => {
    const [one, port, other] = await Promise.all(
      ['https://A.test/hook', 'http://a.test:8080?x', 'https://b.a.test/'].map(subscribed),
    );
    if (one === undefined || port === undefined || other === undefined) throw new Error('three were made');
    await stand.sql(`insert into waybell.stopped_hosts (host, reason) values ('a.test', 'r')`);
    const of = () => changesOf(one.endpoint, one.own, port.endpoint, port.own, other.endpoint, other.own);
    expect(await of()).toEqual([1, 1, 1, 1, 0, 0]);
    await stand.sql(`delete from waybell.stopped_hosts`);
    expect(await of()).toEqual([2, 2, 2, 2, 0, 0]);
  });
});

describe('a look after what is held', () => {
  const look = async (what: string) => {
    const { own, endpoint, change } = await subscribed('https://a.test/hook');
    await change(what);
    await stand.sql("update waybell.deliverer_rooms set changes = 0, look_at = now() + interval '1 hour'");
    await store.lookAfterHeld();
    return changesOf(own, endpoint);
  };

  test.each([
    ['is not', 'callback_url = callback_url', 1],
    ['was paused', 'paused_until = now()', 1],
    ['is paused for less than it waits', `paused_until = now() + interval '30 minutes'`, 1],
    ['is paused until then', `paused_until = now() + interval '1 hour'`, 0],
    ['is stopped', `stopped_at = now(), stopped_reason = 'r'`, 0],
    ['has ended', `paused_until = now() + interval '1 hour', is_active = false, ended_at = now()`, 1],
  ])('has its room looked through where it %s, and no other', async (_, what, changes) => {
    expect(await look(what)).toEqual([changes, 0]);
  });

  test('leaves alone what another process has', async () => {
    const { own } = await subscribed('https://a.test/hook');
    await stand.store().claim({ kind: 'named', rooms: [own.room] });
    await store.lookAfterHeld();
    expect(await changesOf(own)).toEqual([0]);
  });
});
