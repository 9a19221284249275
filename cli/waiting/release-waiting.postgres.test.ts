import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { chosenRooms, type WaitingSelection, releaseWaiting, type ReleasedRows } from './release-waiting.ts';
import { openCommandPublisher } from '@waybell/line/operating/operator-line';
import { readDelivery, type Delivery } from '@waybell/line/delivery';
import type { Publication } from '@waybell/line/messages';
import { waitingIn } from '@waybell/line/waiting-room/postgres-waiting-store';
import { TestBroker } from '@waybell/line/testing/test-broker';
import { deactivatorQueue, deliveryQueue, logQueue } from '@waybell/line/topology';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { aDelivery, putDelivery, subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { shared } from '@waybell/runtime/testing/shared';
import { PATIENT_MS } from '@waybell/runtime/testing/patience';

const QUEUE = deliveryQueue('carrier.order.created');

const store = shared(() => createTestDatabase());
const broker = shared(() => TestBroker.start());
const line = shared(() => openCommandPublisher(broker, PATIENT_MS));

beforeEach(async () => {
  await store.postgres.query(
    'truncate waybell.deliverer_waiting, waybell.deliverer_rooms, waybell.deliverer_waiting_sums',
  );
  await broker.take(QUEUE);
  await broker.take(logQueue);
  await broker.take(deactivatorQueue);
});

const all = { kind: 'all' } as const;
async function release(choice: WaitingSelection = all, by = line.publish): Promise<ReleasedRows> {
  const released: ReleasedRows = { deliveries: 0, publications: 0, records: 0, claimedByOthers: [] };
  await releaseWaiting({
    store: waitingIn(store.postgres, { process: randomUUID() }),
    line: { publish: by },
    rooms: await chosenRooms(store.postgres, choice),
    subscription: choice.kind === 'subscription' ? choice.guid : undefined,
    released,
  });
  return released;
}

async function waiting(how?: Parameters<typeof putDelivery>[2], what: Partial<Delivery> = {}, account?: string) {
  const subscription = await subscribeTo(store.postgres, 'https://a.test/hook', account);
  const delivery = aDelivery({ subscription, ...what });
  await putDelivery(store.postgres, delivery, how);
  return delivery;
}

const rowsLeft = async () => {
  const { rows } = await store.postgres.query<{ id: string }>('select id from waybell.deliverer_waiting');
  return rows.map(({ id }) => id.split(' ')[0]);
};

const moved = async () => (await broker.takeDeliveries(QUEUE)).map((message) => readDelivery(message) as Delivery);

describe('releasing what waits', () => {
  test('puts each into the queue of its action, and leaves nothing behind', async () => {
    const deliveries = [await waiting({ why: 'full' }), await waiting({ why: 'hung', afterMs: 4_000 }, { attempt: 3 })];
    expect(await release()).toMatchObject({ deliveries: 2, records: 0 });
    const found = await moved();
    const byGuid = (one: Delivery, other: Delivery) => one.guid.localeCompare(other.guid);
    expect(found.toSorted(byGuid)).toEqual(deliveries.toSorted(byGuid));
    for (const table of ['deliverer_waiting', 'deliverer_rooms'])
      expect((await store.postgres.query(`select from waybell.${table}`)).rowCount).toBe(0);
    const { rows } = await store.postgres.query('select rows::int, bytes::int from waybell.deliverer_waiting_sums');
    expect(rows).toEqual(rows.map(() => ({ rows: 0, bytes: 0 })));
  });

  test('takes more than fits into one go, the oldest first', async () => {
    const { subscription, createdAt } = await waiting();
    for (let n = 1; n < 150; n += 1)
      await putDelivery(
        store.postgres,
        aDelivery({ subscription, createdAt: createdAt + (n % 7), body: Buffer.alloc(20_000) }),
      );
    expect(await release({ kind: 'subscription', guid: subscription })).toMatchObject({ deliveries: 150 });
    const times = (await moved()).map((delivery) => delivery.createdAt);
    expect(times).toHaveLength(150);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  test('moves those of one account, or of one subscription, and no others', async () => {
    const account = randomUUID();
    const [first, second, other] = [
      await waiting({ why: 'hung' }, {}, account),
      await waiting({ why: 'hung' }, {}, account),
      await waiting(),
    ];
    await release({ kind: 'subscription', guid: first.subscription });
    expect(await rowsLeft()).toEqual(expect.arrayContaining([second.guid, other.guid]));
    expect((await moved()).map(({ guid }) => guid)).toEqual([first.guid]);
    await release({ kind: 'account', guid: account });
    expect((await moved()).map(({ guid }) => guid)).toEqual([second.guid]);
    expect(await rowsLeft()).toEqual([other.guid]);
    await release();
  });
});

test('what waits stays until it is published, and is published as the same again after a command that was killed', async () => {
  const { guid } = await waiting();
  const killed = async (publication: Publication) => {
    await line.publish(publication);
    throw new Error('killed');
  };
  await expect(release(all, killed)).rejects.toThrow('killed');
  expect(await rowsLeft()).toEqual([guid]);
  await release();
  const [first, second] = await moved();
  expect(first).toMatchObject({ guid });
  expect(second).toEqual(first);
});
