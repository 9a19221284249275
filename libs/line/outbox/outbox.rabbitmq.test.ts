import { beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { connectPostgres, type Postgres } from '@waybell/runtime/postgres';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { Detour } from '@waybell/runtime/testing/detour';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';
import { shared } from '@waybell/runtime/testing/shared';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { connectBroker } from '../broker/connect-broker.ts';
import { deliveriesContentType } from '../delivery-batch.ts';
import type { Publication } from '../messages.ts';
import { aShutdown } from '../testing/a-shutdown.ts';
import { BreakableBroker } from '../testing/test-broker.ts';
import { WAITING_SETTINGS } from '../waiting-room/postgres-waiting-store.ts';
import { WaitingMetrics } from '../waiting-room/waiting-metrics.ts';
import { Outbox } from './outbox.ts';
import { type OutboxStore, outboxIn, writeProperties } from './postgres-outbox.ts';
import { publishClaimed } from './publish-claimed.ts';

const SECOND_MS = 1_000;
const CLAIM_MS = 20_000;
const rabbitmq = shared(() => BreakableBroker.start());
const database = shared(() => createTestDatabase());
const postgres = shared(async () => {
  const as = { url: database.url, role: 'waybell_router', poolSize: 4, settings: WAITING_SETTINGS };
  const connected: Postgres = connectPostgres({ ...as, timeoutMs: PATIENT_MS, log });
  return Object.assign(connected, { [Symbol.asyncDispose]: () => connected.end() });
});
let clock: TurnedClock;

beforeEach(async () => {
  clock = new TurnedClock(Date.UTC(2026, 0));
  await database.postgres.query('truncate waybell.router_outbox, waybell.router_waiting, waybell.router_rooms');
});

const aPublication = (routingKey: string, body: string, more: Partial<Publication> = {}): Publication => ({
  kind: 'publish',
  exchange: '',
  routingKey,
  body: Buffer.from(body),
  ...more,
});
const ROW = { id: '0b9c2f6e-7d1f-4e57-8f5e-000000000001', destination: ' k' };
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n}`.padStart(4, '0'));

async function countRows(): Promise<number> {
  const { rows } = await database.postgres.query<{ count: number }>('select count(*)::int from waybell.router_outbox');
  return rows[0]?.count ?? 0;
}

/** Has all rows be due so much earlier, those that are claimed too. */
const later = (ms: number) =>
  database.postgres.query(`update waybell.router_outbox set due_at = due_at - interval '${ms} ms'`);

type How = { url?: string; mostBytes?: number; store?: OutboxStore };

/** A process with an outbox, on a broker that can be written to. */
async function aService({ url = rabbitmq.url, mostBytes = 2 ** 30, store = outboxIn(postgres, 'router') }: How = {}) {
  const broker = await connectBroker({
    url,
    name: 'outbox',
    exchanges: [],
    confirmTimeoutMs: PATIENT_MS,
    unconfirmedLimit: 1_000,
    log,
  });
  await until('it is connected', () => broker.state() === 'writable');
  const metrics = createMetrics('test');
  const waiting = new WaitingMetrics(metrics);
  let isAway = () => false;
  waiting.show = (part) => (isAway = () => part().isAway);
  const step = { broker, shutdown: aShutdown(), log, metrics, clock };
  const outbox = new Outbox({
    store,
    asStep: (rows) => publishClaimed('outbox', rows, step),
    broker,
    mostBytes,
    metrics: waiting,
    log,
    clock,
  });
  return {
    broker,
    put: outbox.put,
    figures: () => waiting.figures.destinations,
    isAway: () => isAway(),
    putAll: (queue: string, bodies: readonly string[]) =>
      Promise.all(bodies.map((body) => outbox.put(aPublication(queue, body)))),
    async [Symbol.asyncDispose]() {
      await outbox[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
    },
  };
}

/** Looks, with a second between two of them by the clock of the service. */
const seen = <T>(what: string, look: () => Promise<T | false | undefined>) =>
  until(what, async () => {
    await clock.runFor(SECOND_MS);
    return look();
  });
const untilEmpty = () => seen('nothing waits', async () => (await countRows()) === 0);

/** Each at least once. */
async function arrived(queue: string, wanted: number): Promise<string[]> {
  const bodies = new Set<string>();
  return seen(`${wanted} are in ${queue}`, async () => {
    for (const { content } of await rabbitmq.take(queue)) bodies.add(content.toString());
    return bodies.size >= wanted && [...bodies].toSorted();
  });
}

describe('what the broker does not take', () => {
  test('arrives when an alarm is over, as it was given', async () => {
    const queue = await rabbitmq.queue();
    await using service = await aService();
    await rabbitmq.alarm(true);
    const first = service.broker.publish(aPublication(queue, 'first')).catch(() => undefined);
    await until('publishers are blocked', () => service.broker.state() === 'blocked');
    const headers = {
      'waybell-came-before': 1,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    const given = { messageId: 'm', type: 't\0', note: 'n', contentType: deliveriesContentType, headers };
    await service.put(aPublication(queue, 'given', given));
    await service.putAll(queue, numbers(150));
    await clock.runFor(10 * SECOND_MS);
    expect(await countRows()).toBe(151);
    await rabbitmq.alarm(false);
    await first;
    const messages: Awaited<ReturnType<typeof rabbitmq.take>> = [];
    await seen('all are there', async () => messages.push(...(await rabbitmq.take(queue))) === 152);
    expect(messages.find(({ content }) => content.toString() === 'given')?.properties).toMatchObject({
      messageId: 'm',
      type: 't\0',
      correlationId: 'n',
      contentType: deliveriesContentType,
      headers,
    });
    await untilEmpty();
  });

  test('arrives when RabbitMQ is back', async () => {
    const queue = await rabbitmq.queue();
    await using proxy = await Detour.to(rabbitmq.url);
    await using service = await aService({ url: proxy.url });
    await proxy.shut();
    await until('it is away', () => service.broker.state() === 'away');
    await service.putAll(queue, numbers(20));
    await proxy.reopen();
    await until('it is back', () => service.broker.state() === 'writable');
    expect(await arrived(queue, 20)).toEqual(numbers(20));
    await untilEmpty();
  });

  test('as no queue is bound for it, arrives once one is', async () => {
    await using service = await aService();
    await service.putAll('waybell.test.declared-late', numbers(20));
    // Each look tries one more row.
    await seen('it is refused', async () => {
      const { rows } = await database.postgres.query('select from waybell.router_outbox where refused_at is not null');
      return rows.length > 0;
    });
    await rabbitmq.declare('waybell.test.declared-late');
    expect(await arrived('waybell.test.declared-late', 20)).toEqual(numbers(20));
    await untilEmpty();
  });

  test('as its queue confirms nothing, holds up no other, and goes when that goes on', async () => {
    const [stalled, fine] = [await rabbitmq.queue(), await rabbitmq.queue()];
    await using service = await aService();
    await rabbitmq.leader(stalled, 'suspend');
    try {
      await service.putAll(stalled, numbers(600));
      await service.putAll(fine, numbers(200));
      expect(await arrived(fine, 200)).toEqual(numbers(200));
      expect(await countRows()).toBeGreaterThanOrEqual(600);
    } finally {
      await rabbitmq.leader(stalled, 'resume');
    }
    expect(await arrived(stalled, 600)).toEqual(numbers(600));
    await untilEmpty();
  });

  test('goes when it is due, and not before', async () => {
    const queue = await rabbitmq.queue();
    await using service = await aService();
    const ifKept = { afterMs: 600_000, exchange: '', routingKey: queue };
    await service.put(aPublication('the retry queue', 'later', { ifKept }));
    await service.put(aPublication(queue, 'now'));
    expect(await arrived(queue, 1)).toEqual(['now']);
    await clock.runFor(20 * SECOND_MS);
    expect(await countRows()).toBe(1);
    await later(600_000);
    expect(await arrived(queue, 1)).toEqual(['later']);
  });

  test('is no more than may wait, of all processes: beyond it a put is refused, until there is room', async () => {
    const queue = await rabbitmq.queue();
    const large = aPublication(queue, 'x'.repeat(1_000));
    const others = { ...ROW, publication: large, afterMs: 600_000 };
    const ifKept = { afterMs: 600_000, exchange: '', routingKey: queue };
    const refusal = async (service: { put: (what: Publication) => Promise<void> }) => {
      const refused = await service.put(aPublication(queue, 'y')).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Unavailable);
      return refused as Unavailable;
    };
    await using own = await aService({ mostBytes: 1_000 });
    await own.put({ ...large, ifKept });
    const { probe } = await refusal(own);
    await expect(probe()).rejects.toThrow('as much waits as may');
    await database.postgres.query('truncate waybell.router_outbox');
    await probe();
    await outboxIn(postgres, 'router').put([others]);
    await using next = await aService({ mostBytes: 1_000 });
    await seen('it counts', async () => next.figures().rows === 1);
    await refusal(next);
    await database.postgres.query('truncate waybell.router_outbox');
    await own.put(aPublication(queue, 'y'));
    expect(await arrived(queue, 1)).toEqual(['y']);
  });

  test('is not said to wait while Postgres is away', async () => {
    await using service = await aService();
    await database.postgres.query('alter table waybell.router_outbox rename to elsewhere');
    try {
      await expect(service.put(aPublication('k', 'a'))).rejects.toThrow(Unavailable);
      expect(service.isAway()).toBe(true);
    } finally {
      await database.postgres.query('alter table waybell.elsewhere rename to router_outbox');
    }
  });

  test('is tried with one row, and later each time', async () => {
    const store = outboxIn(postgres, 'router');
    let looks = 0;
    const kept: number[] = [];
    await using service = await aService({
      store: {
        ...store,
        claim: (what) => store.claim(what).finally(() => (looks += 1)),
        keep: (rows) => store.keep(rows).finally(() => kept.push(rows.length)),
      },
    });
    await service.putAll('waybell.test.never-declared', numbers(20));
    await seen('it is refused', async () => kept.length > 0);
    for (const start = clock.now(); clock.now() < start + 120 * SECOND_MS;) {
      const before = looks;
      await seen('it looks', async () => looks > before);
    }
    expect(new Set(kept)).toEqual(new Set([1]));
    expect(kept.length).toBeGreaterThan(8);
    expect(kept.length).toBeLessThan(40);
  });

  test('is counted with what others put, until nothing waits', async () => {
    const queue = await rabbitmq.queue();
    const row = {
      ...ROW,
      destination: ` ${queue}`,
      publication: aPublication(queue, 'other'),
    };
    await outboxIn(postgres, 'router').put([{ ...row, afterMs: 600_000 }]);
    await using service = await aService();
    await service.putAll(queue, numbers(3));
    const rows = (wanted: number) => seen(`it counts ${wanted}`, async () => service.figures().rows === wanted);
    await rows(1);
    expect(service.figures()).toMatchObject({ bytes: expect.any(Number), oldestAt: expect.any(Number) });
    await later(600_000);
    await rows(0);
    expect(service.figures().bytes).toBe(0);
  });
});

describe('of several processes', () => {
  test('each takes rows of its own, and nothing is sent twice', async () => {
    const queue = await rabbitmq.queue();
    await using one = await aService();
    await using other = await aService();
    await Promise.all([
      one.putAll(queue, numbers(900)),
      other.putAll(
        queue,
        numbers(900).map((n) => `o${n}`),
      ),
    ]);
    const taken: string[] = [];
    await seen('all are sent', async () => {
      for (const { content } of await rabbitmq.take(queue)) taken.push(content.toString());
      return (await countRows()) === 0 && taken.length >= 1_800;
    });
    expect(taken).toHaveLength(1_800);
  });

  test('the next one takes what one had that died, once its claim has run out', async () => {
    const queue = await rabbitmq.queue();
    const store = outboxIn(postgres, 'router');
    const row = {
      ...ROW,
      destination: ` ${queue}`,
      publication: aPublication(queue, 'a'),
    };
    await store.put([{ ...row, afterMs: 0 }]);
    expect(await store.claim({ open: [], shut: [], claimMs: CLAIM_MS })).toEqual([row]);
    await using _ = await aService();
    await clock.runFor(15 * SECOND_MS);
    expect(await rabbitmq.take(queue)).toEqual([]);
    await later(CLAIM_MS);
    expect(await arrived(queue, 1)).toEqual(['a']);
    await untilEmpty();
  });

  test('one of release 0.3.0 has put it into rooms: it arrives all the same', async () => {
    const queue = await rabbitmq.queue();
    await database.postgres.query(
      `with room as (insert into waybell.router_rooms (room, name) select gen_random_uuid(), $1 returning room)
       insert into waybell.router_waiting (room, made_at, id, why, properties, body)
       select room, 1, n, 'broker', $2, convert_to(n, 'UTF8') from room, unnest($3::text[]) n`,
      [` ${queue}`, writeProperties(aPublication(queue, '')), numbers(600)],
    );
    await using _service = await aService();
    expect(await arrived(queue, 600)).toEqual(numbers(600));
    await untilEmpty();
    expect((await database.postgres.query('select from waybell.router_waiting')).rowCount).toBe(0);
  });
});

describe('what is claimed at once', () => {
  const store = () => outboxIn(postgres, 'router');
  const rowsOf = (destination: string, bodies: readonly Buffer[]) =>
    bodies.map((body, place) => ({
      id: `0b9c2f6e-7d1f-4e57-8f5e-${destination}${`${place}`.padStart(8, '0')}`,
      destination,
      publication: { ...aPublication(destination, ''), body },
      afterMs: 0,
    }));
  const claimed = async (open: readonly string[], shut: readonly string[] = []) => {
    const rows = await store().claim({ open, shut, claimMs: CLAIM_MS });
    const counts: Record<string, number> = {};
    for (const { destination } of rows) counts[destination] = (counts[destination] ?? 0) + 1;
    return counts;
  };
  const bodies = (many: number, size = 1) => Array.from({ length: many }, () => Buffer.alloc(size));

  test('is one row of a destination that is not known to take, and a share of those that are', async () => {
    await store().put([...rowsOf('aaaa', bodies(2_000)), ...rowsOf('bbbb', bodies(3)), ...rowsOf('cccc', bodies(9))]);
    expect(await claimed(['aaaa', 'bbbb'])).toEqual({ aaaa: 171, bbbb: 3, cccc: 1 });
    expect(await claimed([], ['aaaa'])).toEqual({ cccc: 1 });
    expect(await claimed(['aaaa'])).toEqual({ aaaa: 171, cccc: 1 });
  });

  test('weighs no more than a few megabytes, but for the first of each', async () => {
    await store().put([...rowsOf('aaaa', bodies(9, 2 ** 20)), ...rowsOf('bbbb', bodies(2, 5 * 2 ** 20))]);
    expect(await claimed(['aaaa', 'bbbb'])).toEqual({ aaaa: 1, bbbb: 1 });
    await store().settle(rowsOf('bbbb', bodies(2)));
    expect(await claimed(['aaaa'])).toEqual({ aaaa: 4 });
  });

  test('is due again when it was not taken, behind the others', async () => {
    await store().put(rowsOf('aaaa', bodies(2)));
    const [first] = await store().claim({ open: [], shut: [], claimMs: CLAIM_MS });
    await store().keep(first === undefined ? [] : [first]);
    const [second] = await store().claim({ open: [], shut: [], claimMs: CLAIM_MS });
    expect(second?.id).not.toBe(first?.id);
    expect(await store().claim({ open: [], shut: [], claimMs: CLAIM_MS })).toEqual([first]);
  });
});
