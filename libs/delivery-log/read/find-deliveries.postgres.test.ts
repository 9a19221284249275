import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Cursor } from './cursor.ts';
import { readEndpoint } from './subscriptions.ts';
import type { ClientReader } from './entries.ts';
import { findDeliveries, type DeliveryFilter } from './find-deliveries.ts';
import { timelineOf } from './history.ts';
import { numberOfKey } from '../tables.ts';
import { DAY_MS, LogStand, START } from '../testing/log-stand.ts';
import { logMany, type Many } from '../testing/many-deliveries.ts';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const HOUR_MS = 3_600_000;

const stand = shared(() => LogStand.start());
let many: Many;
let reader: ClientReader;
beforeAll(async () => {
  many = await logMany(stand, 20_000);
  reader = { account: many.account, client: 'default', interface: 'carrier' };
});

const find = (filter: DeliveryFilter, { limit = 50, before }: { limit?: number; before?: Cursor | undefined } = {}) =>
  findDeliveries(stand.store.postgres, { reader, filter, limit, before });
const guidsOf = ({ entries }: { entries: { delivery: string }[] }) => entries.map(({ delivery }) => delivery);

describe('findDeliveries, of a client with very many', () => {
  test('finds the few that were exhausted, the latest first', async () => {
    expect(guidsOf(await find({ statuses: ['exhausted'] }))).toEqual(many.exhausted);
    expect(guidsOf(await find({ reason: 'reset' }))).toEqual(many.exhausted);
    expect(guidsOf(await find({ statuses: ['dropped'] }))).toEqual([]);
    expect(guidsOf(await find({ statuses: ['exhausted'], reason: 'dns' }))).toEqual([]);
  });

  test('finds those of a seldom action, and of a time', async () => {
    expect(guidsOf(await find({ action: 'order.updated' }))).toEqual(many.rare);
    const [from, to] = [START - 4 * DAY_MS, START - 2 * DAY_MS];
    expect(guidsOf(await find({ statuses: ['exhausted'], since: from, until: to }))).toEqual([many.exhausted[1]]);
    const page = await find({ since: from, until: to }, { limit: 200 });
    expect(page.entries.every(({ at }) => at >= from && at < to)).toBe(true);
    expect(page.entries).toHaveLength(200);
  });

  test('has pages no larger than asked for, and leaves out none between them', async () => {
    const first = await find({ statuses: ['delivered'] }, { limit: 3 });
    expect(first.entries).toHaveLength(3);
    const second = await find({ statuses: ['delivered'] }, { limit: 3, before: first.next });
    const both = await find({ statuses: ['delivered'] }, { limit: 6 });
    expect([...guidsOf(first), ...guidsOf(second)]).toEqual(guidsOf(both));
  });

  test('comes to one that is hard to find page by page, though pages before it are empty', async () => {
    const found: string[] = [];
    let pages = 0;
    for (let before: Cursor | undefined; ; pages += 1) {
      const page = await find({ statuses: ['waiting'], since: START - 5 * DAY_MS }, { before });
      found.push(...guidsOf(page));
      if (page.next === undefined) break;
      before = page.next;
    }
    expect(found).toEqual([many.waiting]);
    expect(pages).toBeGreaterThan(1);
  });

  test.each<DeliveryFilter>([
    {},
    { statuses: ['exhausted'] },
    { statuses: ['exhausted'], since: START - 6 * DAY_MS },
    { reason: 'dns' },
    { action: 'order.updated' },
    { statuses: ['delivered'] },
    { about: { key: '1f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11' } },
  ])('looks at few rows for %j', async (filter) => {
    const plans = watchPlans(stand.store.postgres);
    await findDeliveries(plans, { reader, filter, limit: 50 });
    expect(plans.rowsLookedAt()).toBeLessThan(4_000);
  });

  test('looks at no more than it says for what is rare', async () => {
    const plans = watchPlans(stand.store.postgres);
    await findDeliveries(plans, { reader, filter: { statuses: ['waiting'] }, limit: 50 });
    expect(plans.rowsLookedAt()).toBeLessThan(6_000);
  });

  test('looks at few rows for a key that very many events have, as a timeline does', async () => {
    const of = [many.account, numberOfKey('4711')];
    await stand.rows(
      `with about as (
         update delivery_log.events set keys = array['order_id=4711'] where account = $1 returning at, event
       )
       insert into delivery_log.keys select $2, at, event from about`,
      of,
    );
    await stand.rows('vacuum analyze delivery_log.events, delivery_log.keys');
    const about = { key: '4711' };
    for (const who of [reader, 'operator'] as const) {
      const plans = watchPlans(stand.store.postgres);
      const { entries } = await timelineOf(plans, { about, reader: who, limit: 50 });
      expect(entries).toHaveLength(50);
      expect(plans.rowsLookedAt()).toBeLessThan(1_000);
    }
    const plans = watchPlans(stand.store.postgres);
    expect((await findDeliveries(plans, { reader, filter: { about }, limit: 50 })).entries).toHaveLength(50);
    expect(plans.rowsLookedAt()).toBeLessThan(1_000);
  });
});

describe('findDeliveries, of all accounts', () => {
  const ofAll = (
    filter: DeliveryFilter,
    { limit = 50, before }: { limit?: number; before?: Cursor | undefined } = {},
  ) => findDeliveries(stand.store.postgres, { reader: 'operator', filter, limit, before });

  test('finds what was not delivered, the latest first, and leads on from page to page', async () => {
    const first = await ofAll({ statuses: ['exhausted', 'dropped'] }, { limit: 3 });
    const second = await ofAll({ statuses: ['exhausted', 'dropped'] }, { limit: 3, before: first.next });
    const both = await ofAll({ statuses: ['exhausted', 'dropped'] }, { limit: 6 });
    expect([...guidsOf(first), ...guidsOf(second)]).toEqual(guidsOf(both));
    expect(both.entries).toHaveLength(6);
    const ends = both.entries.map(({ attempts }) => attempts.at(-1)?.at ?? 0);
    expect(ends).toEqual(ends.toSorted((one, other) => other - one));
  });

  test('finds each once, newest first, and those of one account as its client does', async () => {
    const found: number[] = [];
    const guids = new Set<string>();
    for (let before: Cursor | undefined; found.length < 1_000;) {
      const page = await ofAll({}, { limit: 200, before });
      found.push(...page.entries.map(({ at }) => at));
      for (const guid of guidsOf(page)) guids.add(guid);
      before = page.next;
    }
    expect(guids.size).toBe(found.length);
    expect(found).toEqual(found.toSorted((one, other) => other - one));
    const { account } = many;
    for (const filter of [{ statuses: ['exhausted' as const] }, { action: 'order.updated' }, {}])
      expect(guidsOf(await ofAll({ ...filter, account }))).toEqual(guidsOf(await find(filter)));
  });

  test.each<[DeliveryFilter, number]>([
    [{ statuses: ['exhausted', 'dropped'] }, 4_000],
    [{ reason: 'dns' }, 12_000],
    [{ statuses: ['exhausted'], since: START - 6 * DAY_MS }, 4_000],
    [{ endpoint: readEndpoint('https://a.test') }, 4_000],
    [{ endpoint: readEndpoint('a.test'), statuses: ['dropped'] }, 12_000],
  ])('looks at few rows for %j', async (filter, most) => {
    const plans = watchPlans(stand.store.postgres);
    await findDeliveries(plans, { reader: 'operator', filter, limit: 50 });
    expect(plans.rowsLookedAt()).toBeLessThan(most);
  });
});

test('findDeliveries looks at few of very many events of all accounts that lie together', async () => {
  const at = START - 20 * DAY_MS;
  await stand.partitions.ensure([at]);
  await stand.rows(
    `insert into delivery_log.events (at, event, part, account, action, keys, subscriptions)
     select to_timestamp($1::float8 / 1000) + n * interval '1 ms', gen_random_uuid(), 1, $2, 'carrier.order.created', '{}', array[$3::uuid]
     from generate_series(1, 200000) n`,
    [at, many.account, randomUUID()],
  );
  // Postgres does this by itself, within a minute.
  await stand.rows(
    "select brin_summarize_new_values(i) from pg_partition_tree('delivery_log.events_by_time') p (i) where isleaf",
  );
  await stand.rows('analyze delivery_log.events');
  const plans = watchPlans(stand.store.postgres);
  const { entries } = await findDeliveries(plans, { reader: 'operator', filter: { until: at + 205_000 }, limit: 50 });
  expect(entries).toHaveLength(50);
  expect(plans.rowsLookedAt()).toBeLessThan(100_000);
});

test('findDeliveries finds what a replay made when its subscription had ended', async () => {
  const us = { account: randomUUID(), client: 'default', interface: 'carrier' } as const;
  const { delivery, subscription } = await stand.log([], us);
  const ended = 'update waybell.subscriptions set ended_at = $2 where guid = $1';
  await stand.rows(ended, [subscription, new Date(START - 2 * HOUR_MS)]);
  const found = await findDeliveries(stand.store.postgres, { reader: us, filter: {}, limit: 10 });
  expect(guidsOf(found)).toEqual([delivery]);
});
