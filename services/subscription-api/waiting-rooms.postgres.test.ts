import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { waitingIn } from '@waybell/line/waiting-room/postgres-waiting-store';
import { waitingDestinations, waitingEndpoints, waitingInAll } from './waiting-rooms.ts';
import { LogStand, START } from '@waybell/delivery-log/testing/log-stand';
import {
  aDelivery,
  putDelivery,
  subscribeTo,
  putPublications,
} from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
const tables = () => stand.store.postgres;

/** The room of an endpoint for which one delivery waits, and its account. */
async function aRoom(url: string): Promise<{ account: string; room: string }> {
  const account = randomUUID();
  const { room } = await putDelivery(tables(), aDelivery({ subscription: await subscribeTo(tables(), url, account) }));
  return { account, room };
}

describe('the endpoints that deliveries wait for', () => {
  test('are told with what waits for them: each once, however many subscriptions lead there, and without its query', async () => {
    const account = randomUUID();
    const first = await subscribeTo(tables(), 'https://a.test:8443/hook?key=secret', account);
    const second = await subscribeTo(tables(), 'https://a.test:8443/hook?key=other', account);
    const elsewhere = await subscribeTo(tables(), 'https://a.test:8443/other', account);
    await putDelivery(tables(), aDelivery({ subscription: first, createdAt: START + 2 }));
    await putDelivery(tables(), aDelivery({ subscription: first, createdAt: START + 3 }));
    await putDelivery(tables(), aDelivery({ subscription: second, createdAt: START + 1 }), { why: 'full' });
    await putDelivery(tables(), aDelivery({ subscription: elsewhere }), { why: 'full' });
    const found = await waitingEndpoints(tables(), { account, limit: 10 });
    expect(found).toEqual([
      expect.objectContaining({ url: 'https://a.test:8443/other', deliveries: 1, shutSince: null, oldestAt: START }),
      {
        account,
        url: 'https://a.test:8443/hook',
        subscriptions: [first, second].toSorted(),
        deliveries: 3,
        isComplete: true,
        bytes: expect.any(Number),
        why: ['full', 'hung'],
        oldestAt: START + 1,
        shutSince: expect.any(Number),
        isClaimed: false,
        nextTryAt: expect.any(Number),
      },
    ]);
    expect(found[1]?.bytes).toBeGreaterThan(57);
    expect(await waitingEndpoints(tables(), { account, limit: 1 })).toEqual(found.slice(0, 1));
  });

  test('are in hand while a process has claimed them, and else have a next try', async () => {
    const { account, room } = await aRoom('https://a.test/claimed');
    const store = waitingIn(tables(), { process: randomUUID() });
    await store.claim({ kind: 'named', rooms: [room] });
    const inHand = { isClaimed: true, nextTryAt: null };
    expect(await waitingEndpoints(tables(), { account, limit: 1 })).toMatchObject([inHand]);
    await stand.rows(`update waybell.deliverer_rooms set look_at = now() - interval '1 s' where account = $1`, [
      account,
    ]);
    expect(await waitingEndpoints(tables(), { account, limit: 1 })).toMatchObject([{ isClaimed: false }]);
    await store.claim({ kind: 'named', rooms: [room] });
    await store.release([{ room, afterMs: 60_000, shutForMs: 5_000 }]);
    const [told] = await waitingEndpoints(tables(), { account, limit: 1 });
    expect(told).toMatchObject({ isClaimed: false, shutSince: expect.any(Number), nextTryAt: expect.any(Number) });
    expect(Number(told?.nextTryAt) - Number(told?.shutSince)).toBe(65_000);
  });

  test('have no URL once no subscription leads there', async () => {
    const { account } = await aRoom('https://a.test/before');
    await stand.rows(`update waybell.subscriptions set callback_url = 'https://a.test/now' where account_guid = $1`, [
      account,
    ]);
    expect(await waitingEndpoints(tables(), { account, limit: 1 })).toMatchObject([{ url: null, deliveries: 1 }]);
  });

  test('are counted up to a bound, by few looks, though one has tens of thousands', async () => {
    const { account, room } = await aRoom('https://a.test/many');
    await stand.rows(
      `insert into waybell.deliverer_waiting (room, made_at, id, why, properties)
       select $1, $2::bigint + n, gen_random_uuid() || ' 1', 'hung', '{}' from generate_series(1, 30000) n`,
      [room, START],
    );
    await stand.rows('analyze waybell.deliverer_waiting');
    const plans = watchPlans(tables());
    const told = { deliveries: 10_000, isComplete: false };
    expect(await waitingEndpoints(plans, { account, limit: 1 })).toMatchObject([told]);
    expect(plans.rowsLookedAt()).toBeLessThan(25_000);
    await stand.rows('delete from waybell.deliverer_waiting where room = $1', [room]);
  });
});

describe('all that waits', () => {
  test('is summed up apart for endpoints, as the service counts it, and for destinations', async () => {
    await stand.rows(
      ['deliverer_rooms', 'deliverer_waiting', 'deliverer_waiting_sums', 'deliverer_outbox', 'router_outbox']
        .map((table) => `waybell.${table}`)
        .map((table) => `delete from ${table}`)
        .join(';'),
    );
    const none = { rooms: 0, shut: 0, rows: 0, bytes: 0, oldestAt: null };
    expect(await waitingInAll(tables())).toEqual({ endpoints: none, destinations: none });
    const account = randomUUID();
    for (const url of ['https://a.test/1?a=b', 'https://a.test/1', 'https://a.test/2'])
      await putDelivery(tables(), aDelivery({ subscription: await subscribeTo(tables(), url, account) }));
    await putPublications(tables(), 'router', 'waybell.outcomes ', 2);
    await putPublications(tables(), 'deliverer', 'x a.b', 1);
    await stand.rows(`update waybell.deliverer_waiting set made_at = made_at + 1 where id = '1'`);
    const { endpoints, destinations } = await waitingInAll(tables());
    expect(endpoints).toMatchObject({ rooms: 2, shut: 2, rows: 3, oldestAt: START });
    expect(destinations).toMatchObject({ rooms: 2, shut: 0, rows: 3, oldestAt: START + 1 });
    const told = await waitingDestinations(tables(), { limit: 10 });
    const outcomes = { service: 'event-router', exchange: 'waybell.outcomes', routingKey: '', publications: 2 };
    expect(told).toMatchObject([{ service: 'deliverer', exchange: 'x', routingKey: 'a.b', publications: 1 }, outcomes]);
    expect(await waitingDestinations(tables(), { limit: 1 })).toEqual(told.slice(0, 1));
  });
});
