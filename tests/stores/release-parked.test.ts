import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { releaseParked } from '@waybell/cli/parked/release-parked';
import { openCommandPublisher, type CommandPublisher } from '@waybell/line/operating/command-publisher';
import { readDelivery, type Delivery } from '@waybell/line/delivery';
import type { Publication } from '@waybell/line/messages';
import { readOutcomes } from '@waybell/line/outcome-batch';
import { TestBroker } from '@waybell/line/testing/test-broker';
import { deactivatorQueue, deliveryQueue, logQueue } from '@waybell/line/topology';
import { createTestDatabase, type TestDatabase } from '@waybell/subscription-api/testing/database';
import { aDelivery, parkRow, subscribeTo } from './park-rows.ts';

const QUEUE = deliveryQueue('carrier.order.created');
// So long that a broker that stands still is not taken for one that is away.
const PATIENT_MS = 600_000;

let store: TestDatabase;
let broker: TestBroker;
let line: CommandPublisher;

beforeAll(async () => {
  store = await createTestDatabase();
  broker = await TestBroker.start();
  line = await openCommandPublisher(broker, PATIENT_MS);
});
afterAll(async () => {
  await line?.[Symbol.asyncDispose]();
  await broker?.[Symbol.asyncDispose]();
  await store?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await store.postgres.query('truncate waybell.parked, waybell.parked_heads, waybell.parked_sums');
  await broker.take(QUEUE);
  await broker.take(logQueue);
  await broker.take(deactivatorQueue);
});

const all = { kind: 'all' } as const;
const release = (choice: Parameters<typeof releaseParked>[0]['choice'] = all, by = line.publish) =>
  releaseParked({ postgres: store.postgres, line: { publish: by }, choice });

async function parked(how?: Parameters<typeof parkRow>[2], what: Partial<Delivery> = {}, account?: string) {
  const subscription = await subscribeTo(store.postgres, 'https://a.test/hook', account);
  const delivery = aDelivery({ subscription, ...what });
  await parkRow(store.postgres, delivery, how);
  return delivery;
}

const rowsLeft = async () => {
  const { rows } = await store.postgres.query<{ delivery: string }>('select delivery from waybell.parked');
  return rows.map(({ delivery }) => delivery);
};

const lease = (until: string) =>
  store.postgres.query(`update waybell.parked_shards set owner = gen_random_uuid(), leased_until = ${until}`);

const released = async () => (await broker.takeDeliveries(QUEUE)).map((message) => readDelivery(message) as Delivery);
const recorded = async () => (await broker.take(logQueue)).flatMap(({ content }) => readOutcomes(content));

describe('releasing what is parked', () => {
  test('puts each into the queue of its action, moved once more, and leaves nothing behind', async () => {
    const deliveries = [
      await parked({ why: 'full' }),
      await parked({ why: 'hung', notBeforeMs: 4_000 }, { attempt: 3 }),
    ];
    expect(await release()).toEqual({ deliveries: 2, records: 0 });
    const found = await released();
    const byGuid = (one: Delivery, other: Delivery) => one.guid.localeCompare(other.guid);
    expect(found.toSorted(byGuid)).toEqual(deliveries.toSorted(byGuid).map((delivery) => ({ ...delivery, hop: 2 })));
    for (const table of ['parked', 'parked_heads'])
      expect((await store.postgres.query(`select from waybell.${table}`)).rowCount).toBe(0);
    const { rows } = await store.postgres.query('select rows::int, bytes::int from waybell.parked_sums');
    expect(rows).toEqual(rows.map(() => ({ rows: 0, bytes: 0 })));
  });

  test('takes more than fits into one go, the oldest first', async () => {
    const { subscription, createdAt } = await parked();
    for (let n = 1; n < 150; n += 1)
      await parkRow(
        store.postgres,
        aDelivery({ subscription, createdAt: createdAt + (n % 7), body: Buffer.alloc(20_000) }),
      );
    expect(await release({ kind: 'subscription', guid: subscription })).toEqual({ deliveries: 150, records: 0 });
    const times = (await released()).map((delivery) => delivery.createdAt);
    expect(times).toHaveLength(150);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  test('moves those of one account, or of one subscription, and no others', async () => {
    const account = randomUUID();
    const [first, second, other] = [
      await parked({ why: 'hung' }, {}, account),
      await parked({ why: 'hung' }, {}, account),
      await parked(),
    ];
    await release({ kind: 'subscription', guid: first.subscription });
    expect(await rowsLeft()).toEqual(expect.arrayContaining([second.guid, other.guid]));
    expect((await released()).map(({ guid }) => guid)).toEqual([first.guid]);
    await release({ kind: 'account', guid: account });
    expect((await released()).map(({ guid }) => guid)).toEqual([second.guid]);
    expect(await rowsLeft()).toEqual([other.guid]);
    await release();
  });

  test('ends as dropped what was deleted for an erasure request', async () => {
    const { guid, subscription } = await parked();
    await store.postgres.query('update waybell.parked set body = null where subscription = $1', [subscription]);
    expect(await release()).toEqual({ deliveries: 0, records: 1 });
    expect(await recorded()).toMatchObject([{ kind: 'dropped', reason: 'forgotten', delivery: guid, attempt: 1 }]);
    expect(await released()).toEqual([]);
  });
});

describe('what is parked stays', () => {
  test('while a deliverer lives that takes care of it', async () => {
    const { guid } = await parked();
    await lease(`now() + interval '1 minute'`);
    await expect(release()).rejects.toThrow(/^0 deliveries were moved; a deliverer lives .* Stop all deliverers/);
    expect([await rowsLeft(), await released()]).toEqual([[guid], []]);
    await lease(`now() - interval '1 s'`);
    expect(await release()).toEqual({ deliveries: 1, records: 0 });
  });

  test('where the broker does not have it, and goes when it is tried again', async () => {
    const { guid } = await parked();
    const away = async () => Promise.reject(new Error('the broker did not confirm'));
    await expect(release(all, away)).rejects.toThrow('the broker did not confirm');
    await expect(release(all, async () => 'unroutable')).rejects.toThrow(
      /no queue takes waybell\.deliveries .*declare/,
    );
    expect(await rowsLeft()).toEqual([guid]);
    expect(await release()).toEqual({ deliveries: 1, records: 0 });
  });

  test('until it is published, and is published as the same again after a command that was killed', async () => {
    const { guid } = await parked();
    const killed = async (publication: Publication) => {
      await line.publish(publication);
      throw new Error('killed');
    };
    await expect(release(all, killed)).rejects.toThrow('killed');
    expect(await rowsLeft()).toEqual([guid]);
    await release();
    const [first, second] = await released();
    expect(first).toMatchObject({ guid, hop: 2 });
    expect(second).toEqual(first);
  });
});
