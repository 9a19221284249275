import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { findAnything } from '@waybell/delivery-log/read/find-anything';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { timelineOf } from '@waybell/delivery-log/read/history';
import { why, type Question } from './why.ts';
import { createAccount } from './accounts.ts';
import { aRouted, DAY_MS, LogStand, START } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
const ask = (text: string, what: Partial<Question> = {}) => why(stand.store.postgres, { text, limit: 10, ...what });
const kindsOf = async (text: string) => (await findAnything(stand.store.postgres, text)).map(({ kind }) => kind);

async function carrierWith(name: string | null = null) {
  const { guid: account } = await createAccount(stand.store.postgres, { interface: 'carrier' });
  await stand.rows('update waybell.accounts set name = $2 where guid = $1', [account, name]);
  return { account, subscription: await stand.subscribe(account, 'order.created') };
}

describe('why', () => {
  test('tells events, deliveries, subscriptions and accounts apart by their guids', async () => {
    const us = await carrierWith('Acme Haulage');
    const { event, delivery } = await stand.logLately([], { ...us, subject: 'order-1' });
    expect(await ask(event.toUpperCase())).toMatchObject({ kind: 'events', page: { entries: [{ event }] } });
    expect(await ask(delivery)).toMatchObject({ kind: 'delivery', delivery: { delivery, event } });
    expect(await ask(us.subscription)).toMatchObject({
      kind: 'subscription',
      subscription: { subscription: us.subscription, account: us.account },
      latest: [{ delivery }],
    });
    const told = await ask(us.account);
    expect(told).toMatchObject({ kind: 'account', subscriptions: [{ subscription: us.subscription }], latest: [{}] });
    expect(told.accounts.get(us.account)?.name).toBe('Acme Haulage');
  });

  test('tells of events and deliveries whose guids begin alike each once, as it stands last, and the last one first', async () => {
    const us = await carrierWith();
    const beginning = randomUUID().slice(0, 8);
    const [older, newer] = ['1', '2'].map((digit) => `${beginning}${randomUUID().slice(8, -1)}${digit}`);
    const record = (event = '', at = START, action = 'order.created') =>
      aRouted({ event, at, action, receivers: [us.account], deliveries: [us] });
    await stand.write([record(newer, START + 2), record(older, START + 1, 'order.updated'), record(older, START)]);
    const found = (await findAnything(stand.store.postgres, beginning)).filter(({ kind }) => kind === 'event');
    expect(found).toMatchObject([
      { event: newer, at: START + 2 },
      { event: older, at: START + 1, action: 'order.updated' },
    ]);
  });

  test('finds what an event is about by any of its names, however it is spelled', async () => {
    const event = randomUUID();
    const keys = [
      { kind: 'order_id', key: '4711' },
      { kind: 'vin', key: 'YV1DZ8256C2271234' },
      { kind: 'subject', key: 'orders:4711' },
    ];
    await stand.write([aRouted({ event, keys })]);
    for (const text of ['4711', ' yv1dz8256c2271234 ', 'Orders:4711', 'order_id:4711', 'vin:YV1DZ8256C2271234'])
      expect(await ask(text)).toMatchObject({ kind: 'events', page: { entries: [{ event, keys }] } });
    expect(await ask('471')).toMatchObject({ kind: 'nothing' });
    expect(await ask('vin:4711')).toMatchObject({ kind: 'nothing' });
  });

  test('lists what may be meant where that is several things, and tells the one that is chosen', async () => {
    const [order, damage] = [randomUUID(), randomUUID()];
    await stand.write([
      aRouted({ event: order, keys: [{ kind: 'order_id', key: '318' }] }),
      aRouted({ event: damage, keys: [{ kind: 'damage_id', key: '318' }], at: START + 1 }),
    ]);
    expect(await ask('318')).toMatchObject({
      kind: 'several',
      candidates: [
        { kind: 'key', keyKind: 'damage_id', events: 1, at: START + 1 },
        { kind: 'key', keyKind: 'order_id', events: 1, at: START },
      ],
    });
    expect(await ask('318', { keyKind: 'damage_id' })).toMatchObject({ page: { entries: [{ event: damage }] } });
    expect(await ask('order_id:318')).toMatchObject({ page: { entries: [{ event: order }] } });
  });

  test('tells an account from a party of that guid in an event', async () => {
    const { account } = await carrierWith();
    await stand.write([aRouted({ keys: [{ kind: 'carrier_guid', key: account }] })]);
    expect(await kindsOf(account)).toEqual(['account', 'key']);
    expect(await ask(account, { as: 'key' })).toMatchObject({ kind: 'events' });
    expect(await ask(account, { as: 'account' })).toMatchObject({ kind: 'account' });
  });

  test('tells each event once, though it has the same key under two names, page by page', async () => {
    const keys = [
      { kind: 'number', key: '900' },
      { kind: 'purchase_order_number', key: '900' },
    ];
    const events = [randomUUID(), randomUUID(), randomUUID()];
    for (const [place, event] of events.entries()) await stand.write([aRouted({ event, keys, at: START + place })]);
    const first = await ask('900', { keyKind: 'number', limit: 2 });
    if (first.kind !== 'events') throw new Error(first.kind);
    const rest = await ask('900', { keyKind: 'number', limit: 2, before: first.page.next });
    if (rest.kind !== 'events') throw new Error(rest.kind);
    expect([...first.page.entries, ...rest.page.entries].map(({ event }) => event)).toEqual(events.toReversed());
    const byEither = await timelineOf(stand.store.postgres, { about: { key: '900' }, reader: 'operator', limit: 10 });
    expect(byEither.entries.map(({ event }) => event)).toEqual(events.toReversed());
  });

  test('tells what came last to a subscription that is switched off, however many events came since', async () => {
    const us = await carrierWith();
    const at = START - DAY_MS;
    const { delivery } = await stand.log([], { ...us, at });
    await stand.rows(
      `update waybell.subscriptions set is_active = false, deactivation_rule = 'exhausted', deactivated_at = $2 where guid = $1`,
      [us.subscription, new Date(at)],
    );
    const since = Array.from({ length: 1_100 }, () => aRouted({ receivers: [us.account] }));
    await stand.write(since);
    expect(await ask(us.subscription)).toMatchObject({ kind: 'subscription', latest: [{ delivery }] });
    const reader = { account: us.account, client: 'default', interface: 'carrier' } as const;
    const found = await findDeliveries(stand.store.postgres, { reader, filter: {}, limit: 10 });
    expect(found.entries).toMatchObject([{ delivery }]);
  });

  test.each(['', '   ', 'x'.repeat(1_000), "'; drop table delivery_log.keys; --"])(
    'finds nothing by %j',
    async (text) => {
      expect(await ask(text)).toMatchObject({ kind: 'nothing' });
    },
  );
});
