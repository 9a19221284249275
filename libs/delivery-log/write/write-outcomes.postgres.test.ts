import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { bodyOf } from '../read/bodies.ts';
import { numberOfKey } from '../tables.ts';
import type { Outcome } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { Unavailable } from '@waybell/runtime/unavailable';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { aDelivered, aDropped, aFailed, anExhausted, aRouted, DAY_MS, LogStand, START } from '../testing/log-stand.ts';

const stand = shared(() => LogStand.start());
type Row = Record<string, unknown>;
const attemptsOf = (delivery: string) =>
  stand.rows<Row>('select * from delivery_log.attempts where delivery = $1 order by at, attempt', [delivery]);

describe('writeOutcomes', () => {
  test('writes an event with its deliveries, what it is about, their attempts and what was sent', async () => {
    const [event, subject, subscription, account] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const delivery = messageGuid(event, subscription);
    const deliveries = [{ subscription, account }];
    const routed = aRouted({ event, keys: [{ kind: 'order_guid', key: subject }], receivers: [account], deliveries });
    const answer = { durationMs: 7, status: 500, reason: 'http_5xx' as const, ip: '203.0.113.7', body: 'Oh' };
    const failed = aFailed({ event, delivery, subscription, at: START + 10, answer, body: '{"a":1}' });
    const delivered = aDelivered({ event, delivery, subscription, attempt: 2, at: START + 1_020 });
    expect(await stand.write([routed, failed, delivered])).toEqual([]);

    const about = [numberOfKey(subject)];
    expect(await stand.rows('select * from delivery_log.keys where number = $1', about)).toMatchObject([{ event }]);
    expect(await stand.rows('select * from delivery_log.events where event = $1', [event])).toMatchObject([
      {
        at: new Date(START),
        account,
        action: 'carrier.order.created',
        keys: [`order_guid=${subject}`],
        subscriptions: [subscription],
        suppressed: null,
        rejected_reason: null,
      },
    ]);
    expect(await attemptsOf(delivery)).toMatchObject([
      {
        kind: 'failed',
        attempt: 1,
        http_status: 500,
        reason: 'http_5xx',
        ip: '203.0.113.7',
        answer: 'Oh',
        duration_ms: 7,
      },
      { kind: 'delivered', attempt: 2, http_status: 200, reason: null, at: new Date(START + 1_020) },
    ]);
    expect(await bodyOf(stand.store.postgres, delivery)).toBe('{"a":1}');
  });

  test('writes a record once, however often and in whatever order it comes', async () => {
    const [first, last] = [aFailed({ body: '{}' }), anExhausted({ attempt: 4, at: START + 9 })];
    const records: Outcome[] = [{ ...last, delivery: first.delivery }, first];
    const written = [stand.write(records), stand.write(records.toReversed()), stand.write([first, first])];
    expect(await Promise.all(written)).toEqual([[], [], []]);
    expect(await attemptsOf(first.delivery)).toMatchObject([{ kind: 'failed' }, { kind: 'exhausted' }]);
  });

  test('commits at once what comes together', async () => {
    const records = [aDelivered(), aDelivered(), aDelivered()];
    await stand.write(records);
    const transactions = 'select distinct xmin from delivery_log.attempts where delivery = any ($1)';
    expect(await stand.rows(transactions, [records.map(({ delivery }) => delivery)])).toHaveLength(1);
  });

  test('keeps text as it came, be it beside records that are there already or not', async () => {
    const text = 'a tab\t, lines\r\n, a \\N and a \\., {"quotes"}, é and 🚚';
    const answer = { durationMs: 7, status: 200, body: text };
    const [first, second] = [aDelivered({ answer, body: text }), aDelivered({ answer, body: text })];
    const suppressed = [{ reason: 'feature_off' as const, client: text }];
    const routed = aRouted({ suppressed });
    await stand.write([first]);
    expect(await stand.write([first, second, routed])).toEqual([]);
    for (const { delivery } of [first, second]) {
      expect(await attemptsOf(delivery)).toMatchObject([{ answer: text }]);
      expect(await bodyOf(stand.store.postgres, delivery)).toBe(text);
    }
    const told = 'select suppressed from delivery_log.events where event = $1';
    expect(await stand.rows(told, [routed.event])).toEqual([{ suppressed }]);
  });

  test('keeps deliveries of one event apart that were rejected in the same millisecond', async () => {
    const { event, interface: interfaceName, action, at } = aRouted();
    const deliveries = [randomUUID(), randomUUID()].toSorted();
    const rejected = deliveries.map((delivery): Outcome => {
      const reason = { reason: 'process_killed', detail: 'died' };
      const of = { event, interface: interfaceName, action, at, keys: [], receivers: [] };
      return { kind: 'rejected', ...of, ...reason, delivery };
    });
    await stand.write(rejected);
    await stand.write(rejected);
    const rows = 'select rejected_delivery as delivery from delivery_log.events where event = $1 order by 1';
    expect(await stand.rows(rows, [event])).toEqual(deliveries.map((delivery) => ({ delivery })));
  });

  test('has an event that was rejected once, however often its record comes, and though its interface is not known', async () => {
    const { event, at } = aRouted();
    const of = { event, interface: null, action: 'orders', at, keys: [], receivers: [] };
    const rejected: Outcome = { kind: 'rejected', ...of, reason: 'unroutable', detail: 'no queue takes it' };
    await stand.write([rejected]);
    await stand.write([rejected]);
    expect(await stand.rows('select action from delivery_log.events where event = $1', [event])).toEqual([
      { action: '.orders' },
    ]);
  });

  test('says that Postgres is away when its connection is cut in the middle, and goes on with another', async () => {
    const record = aDelivered();
    const other = await stand.store.postgres.connect();
    await other.query('begin; lock table delivery_log.attempts in access exclusive mode');
    const written = stand.write([record]).catch((error: unknown) => error);
    await until('it waits for the table, and is cut', async () => {
      const waiting = `select pg_terminate_backend(pid) from pg_stat_activity
                       where query ~ '^copy' and wait_event_type = 'Lock' and datname = current_database()`;
      return (await stand.rows(waiting)).length > 0;
    });
    expect(await written).toBeInstanceOf(Unavailable);
    await other.query('rollback');
    other.release();
    expect(await stand.write([record])).toEqual([]);
    expect(await attemptsOf(record.delivery)).toHaveLength(1);
  });

  test('keeps two requests apart that a crash made of one attempt', async () => {
    const [one, again] = [aDelivered(), aDelivered({ at: START + 5 })];
    await stand.write([one, { ...again, delivery: one.delivery }]);
    expect(await attemptsOf(one.delivery)).toHaveLength(2);
  });

  test.each([
    ['whose guid is none', { subscription: 'x' }],
    ['that holds a NUL', { answer: { durationMs: 1, body: '\u0000' } }],
    ['without an answer', { answer: undefined }],
    ['without a time', { at: undefined }],
    ['of a day far ahead', { at: START + 30 * DAY_MS }],
    ['whose status does not fit', { answer: { durationMs: 1, status: 70_000 } }],
  ])('refuses a record %s and writes all beside it', async (_, spoilt) => {
    const bad = { ...aDelivered(), ...spoilt } as Outcome;
    const [beside, before, after] = [aDelivered(), aDropped(), aRouted()];
    const written = await Promise.all([stand.write([beside]), stand.write([before, bad, after])]);
    expect(written).toEqual([[], [{ outcome: bad, reason: expect.any(String) }]]);
    expect(await attemptsOf(beside.delivery)).toHaveLength(1);
    expect(await attemptsOf(before.delivery)).toMatchObject([{ kind: 'dropped', reason: 'unsubscribed' }]);
    expect(await stand.rows('select from delivery_log.events where event = $1', [after.event])).toHaveLength(1);
  });

  test('suspects no record for what Postgres lacks, and writes it when that is fixed', async () => {
    const record = aDelivered();
    await stand.rows('revoke insert on delivery_log.attempts from waybell_log');
    await expect(stand.write([record])).rejects.toThrow('postgres is unavailable');
    await stand.rows('grant insert on delivery_log.attempts to waybell_log');
    expect(await stand.write([record])).toEqual([]);
    expect(await attemptsOf(record.delivery)).toHaveLength(1);
  });

  test('makes a day again that has gone, as from a backup that is restored', async () => {
    const [before, after] = [aDelivered(), aDelivered()];
    await stand.write([before]);
    await stand.rows('drop table delivery_log.attempts_20261120');
    await expect(stand.write([after])).rejects.toThrow('postgres is unavailable');
    expect(await stand.write([after])).toEqual([]);
    expect(await attemptsOf(after.delivery)).toHaveLength(1);
  });

  test('writes late what still belongs to a day that is kept, and lets go of what does not', async () => {
    const [late, tooLate] = [anExhausted({ at: START - 29 * DAY_MS }), aDelivered({ at: START - 31 * DAY_MS })];
    expect(await stand.write([late, tooLate])).toEqual([]);
    expect(await attemptsOf(late.delivery)).toHaveLength(1);
    expect(await attemptsOf(tooLate.delivery)).toHaveLength(0);
    // Its body would have been dropped long ago.
    const stored = 'select chunk from delivery_log.attempts where delivery = $1';
    expect(await stand.rows(stored, [late.delivery])).toEqual([{ chunk: null }]);
    expect(
      await stand.rows('select from delivery_log.chunks where at < to_timestamp($1 / 1000.0)', [START - 8 * DAY_MS]),
    ).toEqual([]);
  });
});

/** Attempts are slow to write: each takes so many milliseconds, and those with this status take as long as it says. */
async function slowedDown<T>({ eachMs, byStatus = '' }: { eachMs: number; byStatus?: string }, work: () => Promise<T>) {
  await stand.rows(`
    create function delivery_log.slow() returns trigger language plpgsql as $$
    begin ${byStatus} perform pg_sleep(${eachMs / 1_000}); return new; end $$;
    create trigger slow before insert on delivery_log.attempts for each row execute function delivery_log.slow()`);
  try {
    return await work();
  } finally {
    await stand.rows('drop trigger slow on delivery_log.attempts; drop function delivery_log.slow()');
  }
}

const countOf = async (records: readonly { delivery: string }[]) =>
  (await stand.rows('select from delivery_log.attempts where delivery = any ($1)', [records.map((r) => r.delivery)]))
    .length;

describe('writeOutcomes on a Postgres that is slow', () => {
  const TIMEOUT_MS = 400;
  const HANGING = 599;
  const hanging = () => aFailed({ answer: { durationMs: 1, status: HANGING } });
  const hangs = `if new.http_status = ${HANGING} then perform pg_sleep(${(3 * TIMEOUT_MS) / 1_000}); end if;`;

  test('writes a lot in parts that it has time for, where all of it would take longer than a statement may', async () => {
    const records = Array.from({ length: 100 }, () => aFailed());
    await slowedDown({ eachMs: (1.2 * TIMEOUT_MS) / records.length }, () =>
      stand.withTimeout(TIMEOUT_MS, async (write) => expect(await write(records)).toEqual([])),
    );
    expect(await countOf(records)).toBe(records.length);
  });

  test('refuses one that always takes too long, and writes all beside it', async () => {
    const [bad, ...others] = [hanging(), aFailed(), aFailed(), aFailed(), aFailed()];
    const among = [...others.slice(0, 2), bad, ...others.slice(2)];
    await slowedDown({ eachMs: 0, byStatus: hangs }, () =>
      stand.withTimeout(TIMEOUT_MS, async (write) =>
        expect(await write(among)).toEqual([
          { outcome: bad, reason: expect.stringContaining('longer than a statement may') },
        ]),
      ),
    );
    expect(await countOf(others)).toBe(others.length);
    expect(await countOf([bad])).toBe(0);
  });

  test('suspects no record while nothing at all can be written', async () => {
    const records = [aFailed(), aFailed(), aFailed()];
    const other = await stand.store.postgres.connect();
    await other.query('begin; lock table delivery_log.attempts in access exclusive mode');
    await stand.withTimeout(TIMEOUT_MS, async (write) => {
      await expect(write(records)).rejects.toThrow('postgres is unavailable');
      await other.query('rollback');
      other.release();
      expect(await write(records)).toEqual([]);
    });
    expect(await countOf(records)).toBe(records.length);
  });
});
