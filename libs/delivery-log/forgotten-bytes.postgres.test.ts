import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { forget } from './forget.ts';
import { bodyIn, bodyOfDelivery } from './read/bodies.ts';
import type { Outcome } from '@waybell/line/outcomes';
import { until } from '@waybell/runtime/testing/until';
import { messageGuid } from '@waybell/notifications/notification';
import { anExhausted, aRouted, LogStand, START } from './testing/log-stand.ts';
import { aDelivery, putDelivery, subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';

let stand: LogStand;
beforeEach(async () => {
  stand = await LogStand.start();
});
afterEach(() => stand?.[Symbol.asyncDispose]());

/** An event that is kept, with a delivery that failed; of the bytes none can be compressed. */
async function aFailure(keys: readonly string[]) {
  const [event, account, text] = [randomUUID(), randomUUID(), randomUUID()];
  const subscription = await subscribeTo(stand.store.postgres, 'https://a.test/hook', account);
  const delivery = messageGuid(event, subscription);
  const [kept, sent] = [randomBytes(600), randomBytes(600)];
  const answer = { durationMs: 1, status: 500, reason: 'http_5xx' as const, body: `answer ${text}` };
  const of = { event, interface: 'carrier', action: 'order.created', at: START } as const;
  const records: Outcome[] = [
    aRouted({
      ...of,
      keys: keys.map((key) => ({ kind: 'order_guid', key })),
      receivers: [account],
      deliveries: [{ subscription, account }],
      kept: { accounts: [account], body: kept },
    }),
    anExhausted({ ...of, delivery, subscription, answer, body: sent }),
    {
      kind: 'rejected',
      ...of,
      at: START + 9,
      keys: [],
      receivers: [],
      reason: 'r',
      detail: `detail ${text}`,
      delivery,
    },
  ];
  return { event, subscription, delivery, text, kept, sent, records };
}

async function forgetNow(key: string) {
  const client = await stand.store.postgres.connect();
  try {
    await client.query('begin');
    const forgotten = await forget(client, { key });
    await client.query('commit');
    return forgotten;
  } finally {
    client.release();
  }
}

/** The tables in whose files these bytes are. */
async function tablesWith(bytes: Buffer | string): Promise<string[]> {
  await stand.rows('checkpoint');
  const found = await stand.rows<{ name: string }>(
    `select coalesce(pg_filenode_relation(0, substring(file from '^[0-9]+')::oid)::text, file) as name
     from (select 'base/' || oid || '/' as folder from pg_database where datname = current_database()) d
     cross join lateral pg_ls_dir(folder) as file
     cross join lateral pg_stat_file(folder || file, true) as about
     where position($1::bytea in coalesce(pg_read_binary_file(folder || file, 0, about.size, true), '')) > 0`,
    [Buffer.from(bytes)],
  );
  return found.map(({ name }) => name);
}

async function bodyOf(delivery: string): Promise<Buffer | undefined> {
  const rows = await stand.rows<{ bytes: Buffer; place: number }>(bodyOfDelivery('$1'), [delivery]);
  return rows[0] && bodyIn(rows[0]);
}

const chunks = () => stand.rows<{ bytes: Buffer }>('select * from delivery_log.chunks order by chunk');

describe('forget', () => {
  test('leaves nothing of a subject in any file of the database, and what is beside it as it was', async () => {
    const [subject, other] = [randomUUID(), randomUUID()];
    const [gone, kept] = [await aFailure([subject]), await aFailure([other])];
    const records = [...kept.records, ...gone.records];
    await stand.write(records);
    // Samples that Postgres keeps for its plans are files, too.
    await stand.rows('analyze delivery_log.events, delivery_log.attempts, delivery_log.chunks');
    const waits = Buffer.from(`waits ${gone.text}`);
    const { delivery: guid, subscription, event } = gone;
    await putDelivery(stand.store.postgres, aDelivery({ guid, subscription, event, body: waits }));
    const [chunk] = await chunks();
    const packed = chunk?.bytes ?? Buffer.alloc(0);
    expect(await chunks()).toHaveLength(1);
    // Incompressible bytes lie in a frame unchanged; the frame begins with the lengths of all bodies.
    const pieces = [gone.kept.subarray(-48), gone.sent.subarray(-48), packed.subarray(0, 40)];
    const secrets = [...pieces, `answer ${gone.text}`, `detail ${gone.text}`, waits];
    for (const secret of secrets) expect(await tablesWith(secret)).not.toEqual([]);

    expect(await forgetNow(subject)).toMatchObject({ events: 1, bodies: 1, answers: 1, waiting: 1 });
    const tables = ['events', 'attempts', 'chunks'].map((table) => `delivery_log.${table}`);
    // Rows that somebody may still look at, such as who analyzes a table, stay.
    await until('nothing of it is left', async () => {
      await stand.rows(`vacuum (full) ${[...tables, 'waybell.deliverer_waiting'].join(', ')}`);
      const left: string[] = [];
      for (const secret of secrets) left.push(...(await tablesWith(secret)));
      return left.length === 0;
    });
    expect(await bodyOf(gone.delivery)).toBeUndefined();
    expect(await bodyOf(kept.delivery)).toEqual(kept.sent);
    for (const secret of [kept.kept, kept.sent]) expect(await tablesWith(secret.subarray(-48))).toHaveLength(1);

    const before = await everything();
    expect(await stand.write(records)).toEqual([]);
    expect(await stand.write(gone.records.toReversed())).toEqual([]);
    expect(await everything()).toEqual(before);
    for (const secret of pieces) expect(await tablesWith(secret)).toEqual([]);
  });

  test('of subjects that share more events than are deleted at a time, at once, waits for no lock for ever', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const records = Array.from({ length: 1_500 }, (_, place): Outcome[] => {
      const [event, subscription] = [randomUUID(), randomUUID()];
      const of = { event, at: START + place };
      const keys = [...(place < 1_200 ? [one] : []), ...(place >= 300 ? [two] : [])];
      const deliveries = [{ subscription, account: subscription }];
      const delivery = messageGuid(event, subscription);
      return [
        aRouted({ ...of, keys: keys.map((key) => ({ kind: 'k', key })), receivers: [subscription], deliveries }),
        anExhausted({ ...of, delivery, subscription, body: '{}' }),
      ];
    });
    for (let place = 0; place < 50; place += 1)
      await stand.write(records.filter((_, index) => index % 50 === place).flat());
    const forgotten = await Promise.all([one, two, one, two].map(forgetNow));
    expect(forgotten.reduce((sum, { bodies }) => sum + bodies, 0)).toBe(1_500);
  });
});

/** Every row of the log. */
async function everything(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const table of ['events', 'keys', 'attempts', 'chunks'])
    found.push(await stand.rows(`select t::text from delivery_log.${table} t order by 1`));
  return found;
}
