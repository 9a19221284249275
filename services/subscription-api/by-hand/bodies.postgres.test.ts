import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { unpackChunk } from '@waybell/delivery-log/tables';
import { bodyIn, bodyOf, bodyOfDelivery } from '@waybell/delivery-log/read/bodies';
import { deliveryHistory, timelineOf } from '@waybell/delivery-log/read/history';
import type { Outcome } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { createAccount } from '../accounts.ts';
import { askForResend } from './ask.ts';
import { findMissed } from './missed.ts';
import {
  aDelivered,
  aFailed,
  anExhausted,
  aRouted,
  DAY_MS,
  LogStand,
  START,
} from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
async function bytesOf(delivery: string, on = stand): Promise<Buffer | undefined> {
  const rows = await on.rows<{ bytes: Buffer; place: number }>(bodyOfDelivery('$1'), [delivery]);
  return rows[0] && bodyIn(rows[0]);
}

const anAccount = async () => (await createAccount(stand.store.postgres, { interface: 'carrier' })).guid;

describe('a body', () => {
  test('is read as it was sent: not text, empty, or larger than a chunk, beside others in its batch', async () => {
    const bodies = [
      Buffer.from([0xff, 0x00, 0xfe, 0x80]),
      Buffer.alloc(0),
      randomBytes(3 * 2 ** 19),
      Buffer.from('{"a":"ü🚚"}'),
      randomBytes(2 ** 20),
      Buffer.from('last'),
    ];
    const records = bodies.map((body) => anExhausted({ body }));
    expect(await stand.write(records)).toEqual([]);
    for (const [place, { delivery }] of records.entries()) expect(await bytesOf(delivery)).toEqual(bodies[place]);
    expect(await bodyOf(stand.store.postgres, records[1]?.delivery ?? '')).toBe('');
    const withNone = anExhausted();
    delete withNone.body;
    await stand.write([withNone]);
    expect(await bodyOf(stand.store.postgres, withNone.delivery)).toBeUndefined();
  });

  test('that is gone before its delivery leaves all that is told as it was; it is not sent again', async () => {
    await using own = await LogStand.start();
    const { postgres } = own.store;
    const { guid: account } = await createAccount(postgres, { interface: 'carrier' });
    const subscription = await own.subscribe(account, 'order.created');
    const { delivery, subject } = await own.log([anExhausted({ body: '{"n":1}' })], { account, subscription });
    const client = { account, client: 'default', interface: 'carrier' } as const;
    const told = async () => [
      await deliveryHistory(postgres, { delivery }, client),
      await timelineOf(postgres, { about: { key: subject }, reader: client, limit: 10 }),
    ];
    const before = await told();
    expect(before).toMatchObject([{ status: 'exhausted' }, { entries: [{}] }]);
    own.now = START + 9 * DAY_MS;
    expect(await own.partitions.turnOver()).toContain('chunks_20261120');
    expect(await told()).toEqual(before);
    expect(await bytesOf(delivery, own)).toBeUndefined();
    const refused = { kind: 'refused', why: 'body_gone' };
    expect(await askForResend(postgres, { delivery, client, by: 'a test' })).toEqual(refused);
  });
});

describe('an event for three accounts, one of them unknown', () => {
  test('is told to each as what it came to, and kept for those that are known', async () => {
    const [ours, theirs, unknown] = [await anAccount(), await anAccount(), randomUUID()];
    const subscription = await stand.subscribe(ours, 'order.created');
    const [event, key] = [randomUUID(), randomUUID()];
    const body = Buffer.from('{"to":"three"}');
    const routed = aRouted({
      event,
      keys: [{ kind: 'order_guid', key }],
      receivers: [ours, theirs, unknown],
      deliveries: [{ subscription, account: ours }],
      suppressed: [theirs, unknown].map((account) => ({ reason: 'no_subscription', account })),
      kept: { accounts: [ours, theirs], body },
    });
    await stand.write([routed]);
    await stand.rows(`update waybell.accounts set created_at = to_timestamp($1::float8 / 1000)`, [START - DAY_MS]);
    const { entries } = await timelineOf(stand.store.postgres, { about: { key }, reader: 'operator', limit: 10 });
    expect(entries).toHaveLength(1);
    const [entry] = entries;
    expect(new Set(entry?.receivers)).toEqual(new Set([ours, theirs, unknown]));
    const verdicts = entry?.verdicts.map((verdict) =>
      verdict.kind === 'delivery'
        ? [verdict.delivery.account, verdict.delivery.delivery]
        : verdict.kind === 'suppressed' && [verdict.account, verdict.noSubscription?.cause],
    );
    expect(new Set(verdicts)).toEqual(
      new Set([
        [ours, messageGuid(event, subscription)],
        [theirs, 'never_subscribed'],
        [unknown, 'unknown_account'],
      ]),
    );
    const missedBy = (account: string) =>
      findMissed(stand.store.postgres, {
        client: { account, client: 'default', interface: 'carrier' },
        actions: ['order.created'],
        sinceMs: START - DAY_MS,
        untilMs: START + DAY_MS,
        includesSuppressed: true,
        limit: 10,
      });
    expect(await missedBy(theirs)).toMatchObject([{ kind: 'suppressed', event }]);
    expect([await missedBy(ours), await missedBy(unknown)]).toEqual([[], []]);
    const places = 'select distinct chunk, place from delivery_log.events where event = $1 and place is not null';
    expect(await stand.rows(places, [event])).toHaveLength(1);
  });
});

describe('a batch half of which is written already', () => {
  test('is written once, with each body, by two at once', async () => {
    await using one = await LogStand.start();
    await using other = LogStand.on(one.store);
    const account = randomUUID();
    const records = Array.from({ length: 40 }, (_, place): Outcome[] => {
      const [event, subscription] = [randomUUID(), randomUUID()];
      const of = { event, at: START + place };
      const keys = [`order ${place}`, 'all'].map((key) => ({ kind: 'order_id', key }));
      const kept = { accounts: [account], body: `{"came":${place}}` };
      const delivery = messageGuid(event, subscription);
      const deliveries = [{ subscription, account }];
      return [
        aRouted({ ...of, keys, receivers: [account, randomUUID()], deliveries, kept }),
        aFailed({ ...of, delivery, subscription, body: `{"sent":${place}}` }),
        aDelivered({ ...of, delivery, subscription, attempt: 2, body: `{"sent":${place}}` }),
      ];
    }).flat();
    await one.write(records.filter((_, place) => place % 7 < 3));
    const written = await Promise.all([
      one.write(records),
      other.write(records.toReversed()),
      one.write(records.slice(0, 60)),
      other.write(records.slice(40)),
    ]);
    expect(written.flat()).toEqual([]);

    const count = async (rows: string) => (await one.rows(rows)).length;
    expect(await count('select from delivery_log.events')).toBe(80);
    expect(await count('select from delivery_log.attempts')).toBe(80);
    expect(await count('select from delivery_log.keys')).toBe(80);
    expect(await count('select distinct number, at, event from delivery_log.keys')).toBe(80);
    const stored = await one.rows<{ chunk: string; place: number; body: string }>(
      `select chunk, place, '{"came":' as body from delivery_log.events where place is not null
       union all select chunk, place, '{"sent":' from delivery_log.attempts`,
    );
    const chunks = await one.rows<{ chunk: string; bytes: Buffer }>('select chunk, bytes from delivery_log.chunks');
    const bodies = new Map(chunks.map(({ chunk, bytes }) => [chunk, unpackChunk(bytes).map(String)]));
    for (const { chunk, place, body } of stored) expect(bodies.get(chunk)?.[place]).toContain(body);
    // No chunk has a body that no row refers to.
    expect([...bodies.values()].flat()).toHaveLength(stored.length);
    expect(new Set(stored.map(({ chunk, place }) => `${chunk} ${place}`)).size).toBe(120);
    const sent = records.flatMap((record) => (record.kind === 'failed' ? [record] : []));
    for (const { delivery, body } of sent) expect(String(await bytesOf(delivery, one))).toBe(body);
  });
});
