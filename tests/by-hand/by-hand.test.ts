import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ByHandStand } from './by-hand-stand.ts';
import { sendingsIn } from '@waybell/delivery-log-service/sendings';
import { keepPartitions } from '@waybell/delivery-log-service/delivery-log';
import { askForResend, askForTest } from '@waybell/subscription-api/by-hand/ask';
import { askForTrigger } from '@waybell/subscription-api/by-hand/trigger';
import { cancelReplay, replayOf, askForReplay, countReplay } from '@waybell/subscription-api/by-hand/replays';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { deliveryHistory, eventHistory } from '@waybell/delivery-log/read/history';
import type { Attempted } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aDelivered, aDropped, aFailed, anExhausted, DAY_MS, START } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog } from '@waybell/runtime/testing/patience';

const HOUR_MS = 3_600_000;

const stand = shared(() => ByHandStand.start());
let client: ClientReader;
let subscription: string;

beforeEach(async () => {
  client = await stand.someone();
  subscription = await subscribe();
});

const subscribe = () => stand.subscribe(client.account, 'order.created');

const end = (guid: string) =>
  stand.rows('update waybell.subscriptions set ended_at = now(), is_active = false where guid = $1', [guid]);

/** A delivery to the subscription that came to this. */
async function delivered(...attempts: Attempted[]): Promise<string> {
  const at = wallClockMs() - HOUR_MS;
  const shifted = attempts.map((attempt) => ({ ...attempt, at: attempt.at - START + at }));
  return (await stand.log(shifted, { ...client, subscription, at })).delivery;
}

const send = async () => (await stand.sent()).filter(({ subscription: to }) => to === subscription);

async function inOneTransaction<T>(work: (postgres: Queryable) => Promise<T>): Promise<T> {
  const connection = await stand.store.postgres.connect();
  try {
    await connection.query('begin');
    const result = await work(connection);
    await connection.query('commit');
    return result;
  } finally {
    connection.release();
  }
}

const again = (delivery: string) => askForResend(stand.store.postgres, { delivery, client, by: 'token of a test' });
const notDelivered = () =>
  delivered(aFailed({ body: '{"n":1}' }), anExhausted({ attempt: 4, at: START + 7_000, body: '{"n":1}' }));

describe('a resend', () => {
  test('goes on with the next attempt, with guid and body as they were', async () => {
    const delivery = await notDelivered();
    expect(await again(delivery)).toEqual({ kind: 'asked', delivery, subscription, fromAttempt: 5, held: null });
    expect(await send()).toMatchObject([
      {
        guid: delivery,
        subscription,
        attempt: 5,
        byHand: { why: 'resend', fromAttempt: 5 },
        body: Buffer.from('{"n":1}'),
      },
    ]);
    expect(await send()).toEqual([]);
  });

  test('that is sent, and cannot be noted as such, is a failure that is heard, and is sent again', async () => {
    const delivery = await notDelivered();
    await again(delivery);
    const settle = () => Promise.reject(new Error('Postgres is away'));
    await expect(stand.send(async () => undefined, { ...stand.sendings, settle })).rejects.toThrow('away');
    await stand.rows('update delivery_log.sendings set claimed_until = null where delivery = $1', [delivery]);
    expect(await send()).toMatchObject([{ guid: delivery, attempt: 5 }]);
  });

  test.each([Buffer.from([0xff, 0x00, 0x80]), Buffer.alloc(0)])('sends the bytes that were sent: %j', async (body) => {
    const delivery = await delivered(anExhausted({ body }));
    await again(delivery);
    expect((await send()).map((sent) => sent.body)).toEqual([body]);
  });

  test('goes to the subscription that has taken the place of the one that was ended', async () => {
    const delivery = await notDelivered();
    await end(subscription);
    expect(await again(delivery)).toEqual({ kind: 'refused', why: 'unsubscribed' });
    subscription = await subscribe();
    await again(delivery);
    expect(await send()).toMatchObject([{ guid: delivery, subscription }]);
  });

  test.each([
    ['waits for its next attempt', [aFailed({ body: '{}' })], 'under_way'],
    ['was never attempted', [], 'under_way'],
    ['is of a body that is no longer kept', [aDelivered()], 'body_gone'],
  ] as const)('is refused while a delivery %s', async (_, attempts, why) => {
    expect(await again(await delivered(...attempts))).toEqual({ kind: 'refused', why });
  });

  test('is refused while another is on its way, and not afterwards', async () => {
    const delivery = await notDelivered();
    const asked = await Promise.all([again(delivery), again(delivery)]);
    expect(asked.map(({ kind }) => kind).toSorted()).toEqual(['asked', 'refused']);
    expect(await again(delivery)).toEqual({ kind: 'refused', why: 'under_way' });
    const [sent] = await send();
    expect(await again(delivery)).toEqual({ kind: 'refused', why: 'under_way' });
    const of = { event: sent?.event ?? '', delivery, subscription, at: wallClockMs() };
    await stand.write([anExhausted({ ...of, attempt: 5, byHand: 'resend' })]);
    expect(await again(delivery)).toMatchObject({ kind: 'asked', fromAttempt: 6 });
    await send();
  });

  test('is refused to others', async () => {
    const delivery = await notDelivered();
    const theirs = { ...client, client: 'another' };
    expect(await askForResend(stand.store.postgres, { delivery, client: theirs, by: '' })).toEqual({
      kind: 'refused',
      why: 'not_found',
    });
  });

  test('is published again where its process died before that was noted, as the same attempt', async () => {
    await again(await notDelivered());
    const dying = sendingsIn(stand.postgres, { claimMs: 0 });
    const [claimed] = await dying.claim();
    expect(await send()).toMatchObject([{ guid: claimed?.delivery, attempt: 5 }]);
  });

  test('that no queue takes stays due', async () => {
    await again(await notDelivered());
    const impatient = sendingsIn(stand.postgres, { claimMs: 0 });
    const publish = () => Promise.reject(new Error('the claim ran out'));
    expect(await stand.send(publish, impatient)).toBe(false);
    expect(await send()).toHaveLength(1);
  });
});

describe('a replay', () => {
  const request = () => ({
    of: { subscription },
    includesSuppressed: false,
    sinceMs: wallClockMs() - 2 * HOUR_MS,
    untilMs: wallClockMs(),
    perSecond: 1_000,
  });
  const counted = async (what = {}) => {
    const found = await countReplay(stand.store.postgres, { ...request(), ...what }, client);
    if (found.kind === 'refused') throw new Error(found.why);
    return found;
  };
  const total = async () => (await counted()).total;
  const ask = (what = {}) => askForReplay(stand.store.postgres, { ...request(), client, by: 'a test', ...what });

  test('sends all again that was given up or dropped, and nothing else', async () => {
    const [exhausted, dropped] = [await notDelivered(), await delivered(aDropped())];
    await delivered(aDelivered({ body: '{}' }));
    await delivered(aFailed({ body: '{}' }));
    // Given up by one of two chains, and delivered by the other.
    await delivered(anExhausted(), aDelivered({ at: START + 9 }));
    expect(await total()).toBe(2);
    await ask();
    const sent = [...(await send()), ...(await send())];
    expect(new Map(sent.map(({ guid, attempt }) => [guid, attempt]))).toEqual(
      new Map([
        [exhausted, 5],
        [dropped, 1],
      ]),
    );
    expect(await total()).toBe(0);
  });

  test('takes what an ended subscription did not get to the one that is there now', async () => {
    const delivery = await notDelivered();
    const ended = subscription;
    await end(ended);
    subscription = await subscribe();
    await ask({ of: { subscription: ended } });
    expect(await send()).toMatchObject([{ guid: delivery, subscription }]);
  });

  test('takes the oldest where there are too many, and the next one the rest', async () => {
    const [first, second, third] = [await notDelivered(), await notDelivered(), await notDelivered()];
    await stand.rows(
      `update delivery_log.attempts set at = at - case delivery when $1 then 2 else 1 end * interval '1 minute'
       where delivery in ($1, $2)`,
      [first, second],
    );
    const asked = { ...request(), client, by: 'a test' };
    await askForReplay(stand.store.postgres, asked, 2);
    const sent = [...(await send()), ...(await send())].map(({ guid }) => guid);
    expect(sent.toSorted()).toEqual([first, second].toSorted());
    await askForReplay(stand.store.postgres, asked, 2);
    expect(await send()).toMatchObject([{ guid: third }]);
  });

  test('leaves alone what another replay, asked for long ago, has only just sent', async () => {
    const delivery = await notDelivered();
    await ask();
    await stand.rows("update delivery_log.sendings set requested_at = now() - interval '2 days'");
    expect(await again(delivery)).toEqual({ kind: 'refused', why: 'under_way' });
    await send();
    expect(await again(delivery)).toEqual({ kind: 'refused', why: 'under_way' });
    expect(await total()).toBe(0);
  });

  test('goes out as fast as it is due, however much one claim takes', async () => {
    await notDelivered();
    const asked = await ask();
    await stand.rows(
      `insert into delivery_log.sendings
       select (jsonb_populate_record(s, jsonb_build_object('guid', gen_random_uuid(), 'delivery', gen_random_uuid(), 'body', '{}'))).*
       from delivery_log.sendings s, generate_series(1, 250) where replay = $1`,
      [asked.kind === 'asked' ? asked.guid : ''],
    );
    let published = 0;
    expect(await stand.send(async () => void (published += 1))).toBe(true);
    expect(published).toBe(251);
    expect(await stand.rows('select from delivery_log.sendings where published_at is null')).toEqual([]);
  });

  test('is remembered for as many days as records are kept, and longer while something of it is due', async () => {
    const replays: string[] = [];
    // Published so long ago, or never.
    for (const published of ['3 days 1 minute', '2 days 23 hours', null]) {
      await notDelivered();
      const asked = await ask();
      if (asked.kind !== 'asked') throw new Error(asked.why);
      replays.push(asked.guid);
      await stand.rows('update delivery_log.sendings set published_at = now() - $2::interval where replay = $1', [
        asked.guid,
        published,
      ]);
    }
    await stand.rows("update delivery_log.replays set requested_at = now() - interval '4 days' where guid = any ($1)", [
      replays,
    ]);
    const config = { retention: { days: 3, bodyDays: 1 } };
    const ending = new AbortController();
    await using _ = keepPartitions({
      partitions: stand.partitions,
      sendings: stand.sendings,
      config,
      until: ending.signal,
      log: silentLog,
    });
    const left = async (table: string, column: string) => {
      const text = `select ${column} as guid from delivery_log.${table} where ${column} = any ($1)`;
      const rows = await stand.rows<{ guid: string }>(text, [replays]);
      return new Set(rows.map(({ guid }) => guid));
    };
    await until('the oldest is gone', async () => (await left('sendings', 'replay')).size < replays.length);
    expect(await left('sendings', 'replay')).toEqual(new Set(replays.slice(1)));
    await stand.sendings.forget(3 * DAY_MS);
    expect(await left('replays', 'guid')).toEqual(new Set(replays.slice(1)));
  });

  test('keeps to its rate, tells how far it is, and can be cancelled', async () => {
    for (let count = 0; count < 5; count += 1) await notDelivered();
    const asked = await ask({ perSecond: 1 });
    if (asked.kind !== 'asked') throw new Error(asked.why);
    const dues = await stand.rows<{ after: number }>(
      `select extract(epoch from due_at - min(due_at) over ())::int as after from delivery_log.sendings
       where replay = $1 order by due_at`,
      [asked.guid],
    );
    expect(dues.map(({ after }) => after)).toEqual([0, 1, 2, 3, 4]);
    // Ensures that no second passes meanwhile, however long this takes.
    await stand.rows(
      `update delivery_log.sendings set due_at = due_at + interval '1 hour'
       where replay = $1 and due_at > (select min(due_at) from delivery_log.sendings where replay = $1)`,
      [asked.guid],
    );
    const [sent] = await send();
    expect(await send()).toEqual([]);
    await stand.write([aDelivered({ delivery: sent?.guid ?? '', attempt: 5, at: wallClockMs(), byHand: 'resend' })]);
    expect(await replayOf(stand.store.postgres, asked.guid, client)).toMatchObject({
      total: 5,
      published: 1,
      delivered: 1,
    });
    expect(await cancelReplay(stand.store.postgres, asked.guid, client)).toMatchObject({
      cancelled_at: expect.any(Date),
    });
    await stand.rows("update delivery_log.sendings set due_at = now() - interval '1 minute'");
    expect(await send()).toEqual([]);
    expect(await total()).toBe(4);
    expect(await replayOf(stand.store.postgres, asked.guid, { ...client, client: 'another' })).toBeUndefined();
  });
});

describe('a test', () => {
  const askForOne = (guid = subscription) =>
    askForTest(stand.store.postgres, {
      subscription: guid,
      client,
      by: 'a test',
      exampleOf: (action, guidOfMessage) => JSON.stringify({ action, guid: guidOfMessage }),
    });

  test('is the example of the action, once, and in the log', async () => {
    const asked = await askForOne();
    if (asked.kind !== 'asked') throw new Error(asked.why);
    const { delivery } = asked;
    const body = Buffer.from(JSON.stringify({ action: 'order.created', guid: delivery }));
    expect(await send()).toMatchObject([{ guid: delivery, attempt: 1, byHand: { why: 'test' }, body }]);
    expect(await deliveryHistory(stand.store.postgres, { delivery }, client)).toMatchObject({ status: 'waiting' });
  });

  test('is not sent again: without its header the receiver would take it for something that happened', async () => {
    const asked = await askForOne();
    if (asked.kind !== 'asked') throw new Error(asked.why);
    const { delivery, event } = asked;
    const [body] = (await send()).map((sent) => sent.body.toString());
    const of = { delivery, event, subscription, at: wallClockMs() };
    await stand.write([anExhausted({ ...of, byHand: 'test', body: String(body) })]);
    expect(await again(delivery)).toEqual({ kind: 'refused', why: 'a_test' });
    expect(await send()).toEqual([]);
  });

  test('is in the log with each delivery, also those to listeners, however often it is published', async () => {
    const { account } = client;
    const listening = { interface: 'carrier', subscription: randomUUID(), account, client: 'default listen' } as const;
    await stand.own(listening, 'order.created');
    await stand.rows('update waybell.subscriptions set ended_at = null, is_active = true where guid = $1', [
      listening.subscription,
    ]);
    const bodyFor = () => ({ kind: 'notification' as const, body: Buffer.from('{}') });
    const of = { event: randomUUID(), action: 'order.created', client, isEverywhere: true, by: 'a test', bodyFor };
    const asked = await inOneTransaction((postgres) => askForTrigger(postgres, of));
    if (asked.kind !== 'triggered') throw new Error(asked.why);
    expect(await stand.send(() => Promise.reject(new Error('no broker')))).toBe(false);
    await stand.rows('update delivery_log.sendings set claimed_until = null where event = $1', [of.event]);
    await send();
    const [entry, ...others] = await eventHistory(stand.store.postgres, of.event, 'operator');
    expect(others).toEqual([]);
    const told = entry?.verdicts.flatMap((each) => (each.kind === 'delivery' ? each.delivery.delivery : []));
    expect(told?.toSorted()).toEqual(asked.deliveries.map(({ delivery }) => delivery).toSorted());
    expect(told).toHaveLength(2);
  });

  test('is sent to what is switched off, and refused for what is ended or of others', async () => {
    expect(await askForOne(randomUUID())).toEqual({ kind: 'refused', why: 'not_found' });
    await stand.rows(
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'window' where guid = $1`,
      [subscription],
    );
    expect(await askForOne()).toMatchObject({ kind: 'asked' });
    await end(subscription);
    expect(await askForOne()).toEqual({ kind: 'refused', why: 'not_found' });
  });
});
