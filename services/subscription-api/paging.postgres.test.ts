import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Cursor, Page } from '@waybell/delivery-log/read/cursor';
import type { ClientReader, Reader } from '@waybell/delivery-log/read/entries';
import { oldestUndelivered } from './failing.ts';
import { findDeliveries, type DeliveryFilter } from '@waybell/delivery-log/read/find-deliveries';
import { timelineOf } from '@waybell/delivery-log/read/history';
import type { Key } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { createAccount } from './accounts.ts';
import { aRouted, LogStand, START } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
/** Pages one after another, to the last. */
async function pagesOf<T>(pageAt: (before: Cursor | undefined) => Promise<Page<T>>): Promise<T[][]> {
  const pages: T[][] = [];
  for (let before: Cursor | undefined; ;) {
    const { entries, next } = await pageAt(before);
    pages.push(entries);
    if (next === undefined) return pages;
    before = next;
  }
}

const timeline = (about: { key: string; kind?: string }, reader: Reader, limit: number) =>
  pagesOf((before) => timelineOf(stand.store.postgres, { about, reader, limit, before }));
const deliveries = (reader: ClientReader, filter: DeliveryFilter, limit: number) =>
  pagesOf((before) => findDeliveries(stand.store.postgres, { reader, filter, limit, before }));

async function aClient(...actions: string[]) {
  const { guid: account } = await createAccount(stand.store.postgres, { interface: 'carrier' });
  const reader: ClientReader = { account, client: 'default', interface: 'carrier' };
  const subscriptions: string[] = [];
  for (const action of actions) subscriptions.push(await stand.subscribe(account, action));
  return { account, reader, subscriptions };
}

type Receiver = { account: string; subscriptions: readonly string[] };

const anEvent = ({ account, subscriptions }: Receiver, what: Parameters<typeof aRouted>[0] = {}) =>
  aRouted({
    receivers: [account],
    deliveries: subscriptions.map((subscription) => ({ subscription, account })),
    ...what,
  });

describe('sixty events in one millisecond, by pages of seven', () => {
  test('are each told once and found once, none is lost, and no page is longer', async () => {
    const client = await aClient('order.created');
    const key = randomUUID();
    const about: Key[] = [{ kind: 'order_guid', key }];
    const events = Array.from({ length: 60 }, () => anEvent(client, { keys: about }));
    await stand.write(events);
    const guids = events
      .map(({ event }) => event)
      .toSorted()
      .toReversed();
    for (const reader of [client.reader, 'operator'] as const) {
      const pages = await timeline({ key }, reader, 7);
      expect(pages.flat().map(({ event }) => event)).toEqual(guids);
      expect(Math.max(...pages.map(({ length }) => length))).toBe(7);
    }
    for (const filter of [{}, { about: { key } }, { statuses: ['waiting'] as const }]) {
      const pages = await deliveries(client.reader, filter, 7);
      expect(pages.flat().map(({ event }) => event)).toEqual(guids);
      expect(Math.max(...pages.map(({ length }) => length))).toBe(7);
    }
  });
});

describe('one event for two actions in one millisecond', () => {
  test('is told and found as two, each once, also where a page ends between them', async () => {
    const client = await aClient('order.created', 'order.updated');
    const { account, subscriptions } = client;
    const [event, key] = [randomUUID(), randomUUID()];
    const actions = ['order.created', 'order.updated'];
    const records = actions.map((action, place) => {
      const of = { account, subscriptions: subscriptions.slice(place, place + 1) };
      return anEvent(of, { event, action, keys: [{ kind: 'order_guid', key }] });
    });
    await stand.write([...records, anEvent(client, { at: START - 1, deliveries: [] })]);
    await stand.write(records);
    const made = subscriptions.map((subscription) => messageGuid(event, subscription)).toSorted();
    for (const limit of [1, 2, 10]) {
      const pages = (await timeline({ key }, client.reader, limit)).flat();
      expect(pages.map(({ action }) => action).toSorted()).toEqual(actions);
      expect(pages).toMatchObject([{ verdicts: [{ kind: 'delivery' }] }, { verdicts: [{ kind: 'delivery' }] }]);
      for (const filter of [{}, { about: { key } }, { statuses: ['waiting'] as const }]) {
        const found = (await deliveries(client.reader, filter, limit)).flat();
        expect(found.map(({ delivery }) => delivery).toSorted()).toEqual(made);
      }
    }
    const asked = { sinceMs: START - 1, account, limit: 10 };
    const undelivered = await oldestUndelivered(stand.store.postgres, asked);
    expect(undelivered.map(({ delivery }) => delivery).toSorted()).toEqual(made);
  });
});

describe('a key that two kinds share', () => {
  test('is told by the kind that is asked for, and by both', async () => {
    const client = await aClient('order.created');
    const key = randomUUID();
    const ofKind = (kind: string, length: number) =>
      Array.from({ length }, (_, place) => anEvent(client, { at: START + place, keys: [{ kind, key }] }));
    const [orders, vehicles] = [ofKind('order_guid', 15), ofKind('vehicle_guid', 2)];
    await stand.write([...orders, ...vehicles]);
    const told = async (about: { key: string; kind?: string }) => {
      const pages = await timeline(about, client.reader, 3);
      return pages
        .flat()
        .map(({ event }) => event)
        .toSorted();
    };
    const guids = (of: typeof orders) => of.map(({ event }) => event).toSorted();
    expect(await told({ key, kind: 'order_guid' })).toEqual(guids(orders));
    expect(await told({ key, kind: 'vehicle_guid' })).toEqual(guids(vehicles));
    expect(await told({ key })).toEqual(guids([...orders, ...vehicles]));
  });
});

describe('a client with few deliveries among many events of others', () => {
  test('comes to each of them page by page, though pages before are empty', async () => {
    const client = await aClient('order.created');
    const other = { account: client.account, subscriptions: [randomUUID()] };
    const key = randomUUID();
    const keys = [{ kind: 'order_guid', key }];
    const events = Array.from({ length: 2_500 }, (_, place) => {
      const isOurs = place % 1_200 === 0;
      return anEvent(isOurs ? client : other, { at: START + place, keys });
    });
    await stand.write(events);
    const ours = [events[2_400], events[1_200], events[0]].map((record) => record?.event);
    const found = await deliveries(client.reader, {}, 2);
    expect(found.map((page) => page.map(({ event }) => event))).toEqual([ours.slice(0, 2), ours.slice(2)]);
    const about = await deliveries(client.reader, { about: { key } }, 2);
    expect(about.flat().map(({ event }) => event)).toEqual(ours);
    expect(about.length).toBeGreaterThan(2);
    const stranger: Reader = { ...client.reader, account: randomUUID() };
    const pages = await timeline({ key }, stranger, 50);
    expect(pages.flat()).toEqual([]);
    expect(pages.length).toBeGreaterThan(1);
  });

  test('finds those of another action in their place, however many events lie between', async () => {
    const client = await aClient('order.created', 'order.updated');
    const other = { account: client.account, subscriptions: [randomUUID()] };
    const [created = '', updated = ''] = client.subscriptions;
    const at = (place: number, subscription?: string, action = 'order.created') =>
      anEvent(subscription === undefined ? other : { ...client, subscriptions: [subscription] }, {
        at: START + place,
        action,
      });
    const events = Array.from({ length: 11_000 }, (_, place) => at(10 + place));
    const ours = [at(0, created), at(5, updated, 'order.updated'), at(3_000, updated, 'order.updated')];
    await stand.write([...events, ...ours]);
    const pages = await deliveries(client.reader, {}, 50);
    expect(pages.flat().map(({ event }) => event)).toEqual(ours.toReversed().map(({ event }) => event));
  });
});
