import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openRequestsIn } from '@waybell/deliverer/open-requests/open-request-store';
import { OpenRequests } from '@waybell/deliverer/open-requests/open-requests';
import { publishDelivery, readDelivery, type Delivery } from '@waybell/line/delivery';
import type { Message, Publication, Source } from '@waybell/line/messages';
import { deliveryQueue } from '@waybell/line/topology';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { until } from '@waybell/runtime/testing/until';
import { silentLog } from '@waybell/subscription-api/testing/database';
import { PostgresStand } from './parking-stand.ts';

let stand: PostgresStand;
beforeAll(async () => {
  stand = await PostgresStand.start();
});
afterAll(async () => {
  await stand[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stand.sql('truncate waybell.open_requests');
});

const LIMITS = { shipper: { responseMs: 60_000 }, carrier: { responseMs: 3_000 } };

function aProcess() {
  const clock = new TurnedClock(0);
  const published: Publication[] = [];
  const broker = {
    publish: async (publication: Publication) => void published.push(publication),
    state: () => 'writable' as const,
  };
  const store = openRequestsIn(stand.postgres);
  const open = new OpenRequests({ store, broker, limits: LIMITS, log: silentLog, clock });
  /** Each look is over when the clock may be turned again. */
  const look = async (): Promise<void> => {
    clock.skipTo(clock.now());
    await clock.runFor(10_000);
  };
  return { clock, published, open, look };
}

function aDelivery(given: Partial<Delivery> = {}): { delivery: Delivery; message: Message } {
  const delivery: Delivery = {
    guid: randomUUID(),
    interface: 'carrier',
    action: 'order.created',
    subscription: randomUUID(),
    generation: 1,
    event: randomUUID(),
    attempt: 1,
    createdAt: 1_000,
    beganAt: 1_000,
    body: Buffer.from('{"n":1}'),
    ...given,
  };
  const { messageId = '', type = '', note = '', body, routingKey, exchange } = publishDelivery(delivery);
  const queue = deliveryQueue(routingKey);
  return {
    delivery,
    message: {
      queue,
      exchange,
      routingKey,
      body,
      messageId,
      type,
      note,
      deliveries: true,
      deliveryCount: 0,
      failures: 0,
    },
  };
}

const kept = () =>
  stand.sql<{ delivery: string; seconds: number }>(
    'select delivery, round(extract(epoch from due_at - now()))::int as seconds from waybell.open_requests order by due_at',
  );
const never = () => {
  throw new Error('it was cut');
};
const isParked = async ({ guid, subscription, createdAt, attempt, mayBeOpen = true }: Delivery) =>
  (await stand.store.has([{ subscription, createdAt, delivery: guid, attempt, hop: 0, mayBeOpen }]))[0];

test('a request under way is kept until its outcome is safe, and for as long as it may take and half a minute more', async () => {
  await using open = aProcess().open;
  const [carrier, shipper] = [aDelivery(), aDelivery({ interface: 'shipper', action: 'order.paid' })];
  const sources = [await open.keep(carrier.message, never), await open.keep(shipper.message, never)];
  expect(await kept()).toEqual([
    { delivery: carrier.delivery.guid, seconds: 33 },
    { delivery: shipper.delivery.guid, seconds: 90 },
  ]);
  sources[0]?.acknowledge();
  await until('one is gone', async () => (await kept()).length === 1);
  expect((await kept())[0]?.delivery).toBe(shipper.delivery.guid);
});

test('one that comes again meanwhile is known to be kept: that attempt of that delivery, and no other', async () => {
  await using open = aProcess().open;
  const { delivery, message } = aDelivery();
  await open.keep(message, never);
  expect(await isParked(delivery)).toBe(true);
  expect(await isParked({ ...delivery, attempt: 2 })).toBe(false);
  // Sent from where it is kept, and not removed there yet.
  expect(await isParked({ ...delivery, mayBeOpen: false })).toBe(false);
  // Sent again by hand.
  expect(await isParked({ ...delivery, createdAt: 2_000 })).toBe(false);
});

test('what a process left behind that died is sent as it came, by one of the others, once it is due', async () => {
  const died = aProcess();
  const { delivery, message } = aDelivery({ traceparent: '00-aa-bb-01' });
  await died.open.keep({ ...message, traceparent: '00-aa-bb-01' }, never);
  const processes = [aProcess(), aProcess()];
  const looks = async () => {
    for (const { look } of processes) await look();
    return processes.flatMap(({ published }) => published);
  };
  expect(await looks()).toEqual([]);
  await stand.sql("update waybell.open_requests set due_at = now() - interval '1 second'");
  const [sent] = await until('it is sent', async () => {
    const published = await looks();
    return published.length > 0 && published;
  });
  expect(sent).toEqual(publishDelivery(delivery));
  await until('it is gone', async () => (await kept()).length === 0);
  expect(await looks()).toHaveLength(1);
  for (const { open } of [died, ...processes]) await open[Symbol.asyncDispose]();
});

test('what is given back is due at once', async () => {
  const { open } = aProcess();
  const [given, other] = [aDelivery(), aDelivery()];
  const source = await open.keep(given.message, never);
  await open.keep(other.message, never);
  source?.giveBack();
  await open[Symbol.asyncDispose]();
  expect(await kept()).toEqual([
    { delivery: given.delivery.guid, seconds: 0 },
    { delivery: other.delivery.guid, seconds: 33 },
  ]);
});

test('a process that lives keeps what waits for its turn, however long', async () => {
  const { open, look } = aProcess();
  const { delivery, message } = aDelivery();
  await open.keep(message, never);
  for (let times = 0; times < 6; times += 1) {
    await stand.sql("update waybell.open_requests set due_at = due_at - interval '10 seconds'");
    await look();
    await until('it is put off', async () => (await kept())[0]?.seconds === 33);
  }
  expect(await isParked(delivery)).toBe(true);
  await open[Symbol.asyncDispose]();
});

test('what another process has claimed is no longer of the one that kept it', async () => {
  const [first, other] = [openRequestsIn(stand.postgres), openRequestsIn(stand.postgres)];
  const { delivery, message } = aDelivery();
  await using open = aProcess().open;
  await open.keep(message, never);
  const [{ id } = { id: '' }] = await stand.sql<{ id: string }>('select id from waybell.open_requests');
  await stand.sql('update waybell.open_requests set due_at = now()');
  expect(await other.claim(1, 30_000)).toMatchObject([{ delivery: delivery.guid }]);
  expect(await first.renew([{ id, dueInMs: 1_000_000 }])).toEqual([]);
  await first.bringForward([id]);
  await first.remove([id]);
  expect(
    await stand.sql("select from waybell.open_requests where due_at between now() and now() + interval '30 s'"),
  ).toHaveLength(1);
});

test('a process that was away for so long that another may have it counts it as taken back', async () => {
  const { clock, open } = aProcess();
  const cut: Source[] = [];
  const source = await open.keep(aDelivery().message, (each) => cut.push(each));
  // Due meanwhile, and so no longer to be put off.
  await stand.sql('update waybell.open_requests set due_at = now()');
  await clock.runFor(22_000);
  expect(cut).toEqual([]);
  await clock.runFor(2_000);
  expect(cut).toEqual([source]);
  await open[Symbol.asyncDispose]();
});

test('where Postgres cannot keep it, nothing does', async () => {
  const { open } = aProcess();
  await stand.sql('alter table waybell.open_requests rename to elsewhere');
  expect(await open.keep(aDelivery().message, never)).toBeUndefined();
  await stand.sql('alter table waybell.elsewhere rename to open_requests');
  expect(readDelivery(aDelivery().message)).toMatchObject({ attempt: 1 });
  await open[Symbol.asyncDispose]();
});
