import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeDelivery } from '@waybell/cli/why/describe-history';
import { forget } from '@waybell/delivery-log/forget';
import { deliveryHistory } from '@waybell/delivery-log/read/history';
import { waitingIn } from '@waybell/line/waiting-room/postgres-waiting-store';
import type { WaitingService } from '@waybell/line/waiting-room/waiting-connection';
import { waitingDestinations, waitingEndpoints, waitingInAll } from '@waybell/subscription-api/waiting-rooms';
import { aDelivered, aFailed, anExhausted, LogStand, START } from './log-stand.ts';
import { aDelivery, putDelivery, subscribeTo } from './waiting-deliveries.ts';
import { watchPlans } from './watch-plans.ts';

let stand: LogStand;
beforeAll(async () => {
  stand = await LogStand.start();
});
afterAll(() => stand[Symbol.asyncDispose]());

const tables = () => stand.store.postgres;
const whatIsTold = (delivery: string) => deliveryHistory(tables(), { delivery }, 'operator');

/** A delivery in the log, with these attempts, that waits. */
async function waitingDelivery(attempts: Parameters<LogStand['log']>[0] = []) {
  const account = randomUUID();
  const subscription = await subscribeTo(tables(), 'https://a.test/hook', account);
  const logged = await stand.log(attempts, { account, subscription });
  const delivery = aDelivery({ guid: logged.delivery, subscription, attempt: attempts.length + 1 });
  await putDelivery(tables(), delivery);
  return { ...logged, waiting: delivery };
}

describe('the history of a delivery', () => {
  test('says that it waits, since when and why', async () => {
    const { delivery } = await waitingDelivery([aFailed()]);
    const entry = await whatIsTold(delivery);
    expect(entry).toMatchObject({ status: 'retrying', waiting: { since: START + 5_000, why: 'hung' } });
    expect(entry && describeDelivery(entry, () => undefined)[0]).toMatch(
      /not delivered yet, after 1 attempt; .*; waiting since 2026-11-20 09:30:05\.000: the endpoint is not responding$/,
    );
  });

  test('says so of one that was asked for by hand, which waits by the time when that was', async () => {
    const account = randomUUID();
    const subscription = await subscribeTo(tables(), 'https://a.test/hook', account);
    const { delivery, event } = await stand.log([anExhausted()], { account, subscription });
    const dueAt = START + 60_000;
    await stand.rows(
      `insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription,
         generation, from_attempt, requested_by, due_at, published_at)
       values ($1, 'resend', $2, $3, 'carrier', 'order.created', $4, 'default', $5, 1, 2, 'me', to_timestamp($6::float8 / 1000), now())`,
      [randomUUID(), delivery, event, account, subscription, dueAt],
    );
    await putDelivery(tables(), aDelivery({ guid: delivery, subscription, createdAt: dueAt, attempt: 2 }), {
      why: 'full',
    });
    expect(await whatIsTold(delivery)).toMatchObject({ waiting: { since: dueAt + 5_000, why: 'full' } });
  });

  test('says nothing of the kind of one that does not, or that was delivered after all', async () => {
    const { delivery } = await stand.logLately([]);
    expect(await whatIsTold(delivery)).not.toHaveProperty('waiting');
    // The row is about to be deleted.
    const arrived = await waitingDelivery([aDelivered()]);
    expect(await whatIsTold(arrived.delivery)).not.toHaveProperty('waiting');
  });

  test('says that a request is under way, where it has waited for long enough', async () => {
    const { delivery, waiting } = await waitingDelivery([aFailed()]);
    await putDelivery(tables(), waiting, { why: 'open', afterMs: 90_000 });
    expect(await whatIsTold(delivery)).toMatchObject({ status: 'retrying', waiting: { why: 'open' } });
  });

  test('says so of one whose subscription is held, which waits in a room of that', async () => {
    const { delivery, subscription, subject } = await waitingDelivery([aFailed()]);
    await stand.rows(
      `with made as (insert into waybell.deliverer_rooms (room, account) select guid, account_guid from waybell.subscriptions where guid = $1)
       update waybell.deliverer_waiting set room = subscription, why = 'paused', due_at = now() + interval '1 hour' where subscription = $1`,
      [subscription],
    );
    const entry = await whatIsTold(delivery);
    expect(entry).toMatchObject({ status: 'retrying', waiting: { since: START + 5_000, why: 'paused' } });
    expect(entry && describeDelivery(entry, () => undefined)[0]).toMatch(/: the subscription is paused$/);
    expect(await forget(tables(), { key: subject })).toMatchObject({ waiting: 1 });
    expect(
      await stand.rows('select due_at from waybell.deliverer_waiting where subscription = $1', [subscription]),
    ).toEqual([{ due_at: null }]);
  });

  test('tells the last of its attempts that waits', async () => {
    const { delivery, subscription } = await waitingDelivery([aFailed()]);
    for (const [attempt, why] of [
      [1, 'full'],
      [10, 'busy'],
    ] as const)
      await putDelivery(tables(), aDelivery({ guid: delivery, subscription, attempt }), { why });
    expect(await whatIsTold(delivery)).toMatchObject({ waiting: { why: 'busy' } });
  });

  test('is found by a look at a few rows, though tens of thousands wait for the same endpoint', async () => {
    const { delivery, event, subscription } = await waitingDelivery();
    await stand.rows(
      `insert into waybell.deliverer_waiting (room, made_at, id, subscription, why, properties)
       select waybell.room_of(account_guid, callback_url), $2::bigint + n / 100, gen_random_uuid() || ' 1', guid, 'hung', '{}'
       from waybell.subscriptions, generate_series(1, 50000) n where guid = $1`,
      [subscription, START - 250],
    );
    await stand.rows('analyze waybell.deliverer_waiting');
    const plans = watchPlans(tables());
    expect(await deliveryHistory(plans, { delivery, event }, 'operator')).toHaveProperty('waiting');
    expect(plans.rowsLookedAt()).toBeLessThan(200);
    await stand.rows('delete from waybell.deliverer_waiting where subscription = $1', [subscription]);
  });
});

/** The room of an endpoint for which one delivery waits, and its account. */
async function aRoom(url: string): Promise<{ account: string; room: string }> {
  const account = randomUUID();
  const { room } = await putDelivery(tables(), aDelivery({ subscription: await subscribeTo(tables(), url, account) }));
  return { account, room };
}

/** Has so many publications wait for a destination, the first of them made a millisecond after the start. */
async function putPublications(service: WaitingService, name: string, count: number): Promise<void> {
  const [exchange = '', routingKey = ''] = name.split(' ');
  const room = randomUUID().replaceAll('-', '');
  const publication = { kind: 'publish', exchange, routingKey, body: Buffer.from('{}') } as const;
  const store = waitingIn(tables(), { service, process: randomUUID() });
  const ids = Array.from({ length: count }, (_, place) => place + 1);
  await store.put(
    ids.map((id) => ({ room, name, madeAt: START + id, id: `${id}`, why: 'broker' as const, publication })),
  );
  await store.flushSums();
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
    const store = waitingIn(tables(), { service: 'deliverer', process: randomUUID() });
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
  test('is summed up apart for endpoints and for destinations, as the services count it', async () => {
    await stand.rows(
      ['deliverer', 'router']
        .flatMap((service) => ['rooms', 'waiting', 'waiting_sums'].map((table) => `waybell.${service}_${table}`))
        .map((table) => `delete from ${table}`)
        .join(';'),
    );
    const none = { rooms: 0, shut: 0, rows: 0, bytes: 0, oldestAt: null };
    expect(await waitingInAll(tables())).toEqual({ endpoints: none, destinations: none });
    const account = randomUUID();
    for (const url of ['https://a.test/1?a=b', 'https://a.test/1', 'https://a.test/2'])
      await putDelivery(tables(), aDelivery({ subscription: await subscribeTo(tables(), url, account) }));
    await putPublications('router', 'waybell.outcomes ', 2);
    await putPublications('deliverer', 'x a.b', 1);
    await stand.rows(`update waybell.deliverer_waiting set made_at = made_at + 1 where id = '1'`);
    const { endpoints, destinations } = await waitingInAll(tables());
    expect(endpoints).toMatchObject({ rooms: 2, shut: 2, rows: 3, oldestAt: START });
    expect(destinations).toMatchObject({ rooms: 2, shut: 0, rows: 3, oldestAt: START + 1 });
    const told = await waitingDestinations(tables(), { limit: 10 });
    const outcomes = { service: 'event-router', exchange: 'waybell.outcomes', routingKey: '', publications: 2 };
    expect(told).toMatchObject([outcomes, { service: 'deliverer', exchange: 'x', routingKey: 'a.b', publications: 1 }]);
    expect(await waitingDestinations(tables(), { limit: 1 })).toEqual(told.slice(0, 1));
  });
});

describe('forget', () => {
  const rowsOf = (subscription: string) =>
    stand.rows<{ body: Buffer | null; is_due: boolean }>(
      `select body, look_at <= now() as is_due from waybell.deliverer_waiting join waybell.deliverer_rooms using (room)
       where subscription = $1`,
      [subscription],
    );
  const putOff = () => stand.rows(`update waybell.deliverer_rooms set look_at = now() + interval '1 hour'`);

  test('deletes what waits about a subject, and has its room looked at; what else waits stays', async () => {
    const [gone, kept] = [await waitingDelivery(), await waitingDelivery()];
    await putOff();
    expect(await forget(tables(), { key: gone.subject })).toMatchObject({ events: 1, waiting: 1 });
    expect(await rowsOf(gone.subscription)).toMatchObject([{ body: null, is_due: true }]);
    expect(await rowsOf(kept.subscription)).toMatchObject([{ body: kept.waiting.body, is_due: false }]);
  });

  test('finds what waits where its subscription led before', async () => {
    const { subject, subscription } = await waitingDelivery();
    await stand.rows(`update waybell.subscriptions set callback_url = 'https://a.test/now' where guid = $1`, [
      subscription,
    ]);
    expect(await forget(tables(), { key: subject })).toMatchObject({ waiting: 1 });
    expect(await rowsOf(subscription)).toMatchObject([{ body: null }]);
  });

  test('leaves a room to the process that has it, until the end of its claim', async () => {
    const { subject, subscription } = await waitingDelivery();
    await putOff();
    await stand.rows(
      `update waybell.deliverer_rooms set claimed_by = gen_random_uuid()
       where room in (select room from waybell.deliverer_waiting where subscription = $1)`,
      [subscription],
    );
    expect(await forget(tables(), { key: subject })).toMatchObject({ waiting: 1 });
    expect(await rowsOf(subscription)).toMatchObject([{ body: null, is_due: false }]);
  });

  test('counts publications that wait for the broker, whatever they are about', async () => {
    const { subject } = await waitingDelivery();
    const { onItsWay } = await forget(tables(), { key: subject });
    await putPublications('router', 'x y', 3);
    expect((await forget(tables(), { key: subject })).onItsWay).toBe(onItsWay + 3);
  });
});
