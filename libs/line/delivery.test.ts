import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { park, publishDelivery, publishRetry, readDelivery, unpark, type Delivery } from './delivery.ts';
import type { Message, Publication } from './messages.ts';

const ACCOUNT = '0b9c2f6e-7d1f-4e57-8f5e-000000000004';

const aDelivery = (what: Partial<Delivery> = {}): Delivery => ({
  guid: '0b9c2f6e-7d1f-4e57-8f5e-000000000001',
  interface: 'carrier',
  action: 'order.created',
  subscription: '0b9c2f6e-7d1f-4e57-8f5e-000000000002',
  generation: 3,
  event: '0b9c2f6e-7d1f-4e57-8f5e-000000000003',
  attempt: 1,
  createdAt: 1_700_000_000_000,
  beganAt: 1_700_000_000_000,
  body: Buffer.from('{}'),
  ...what,
});

/** Builds the message that the broker would deliver for it. */
const arrived = ({ headers, kind: _kind, ...publication }: Publication): Message => ({
  ...publication,
  queue: 'q',
  deliveryCount: 0,
  failures: 0,
  ...(headers?.['traceparent'] === undefined ? {} : { traceparent: String(headers['traceparent']) }),
});

describe('a delivery', () => {
  test('is read as it was published, whatever it holds', () => {
    const always = fc.record({
      guid: fc.uuid(),
      interface: fc.constantFrom('shipper' as const, 'carrier' as const),
      action: fc.constantFrom('order.created', 'vehicle_location.update'),
      subscription: fc.uuid(),
      generation: fc.nat(999_999_999),
      event: fc.uuid(),
      attempt: fc.integer({ min: 1, max: 9_999 }),
      createdAt: fc.nat(Number.MAX_SAFE_INTEGER),
      beganAt: fc.nat(Number.MAX_SAFE_INTEGER),
      body: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    });
    const sometimes = fc.record(
      { dueAt: fc.nat(Number.MAX_SAFE_INTEGER), hop: fc.nat(999_999_999) },
      { requiredKeys: [] },
    );
    const byHand = fc.option(
      fc.record(
        {
          why: fc.constantFrom('resend' as const, 'test' as const),
          fromAttempt: fc.integer({ min: 1, max: 9 }),
          isRetried: fc.constant(true as const),
        },
        { requiredKeys: ['why', 'fromAttempt'] },
      ),
      { nil: undefined },
    );
    const deliveries = fc.tuple(always, sometimes, byHand).map(([delivery, more, hand]) => ({
      ...delivery,
      ...more,
      ...(hand === undefined || hand.fromAttempt > delivery.attempt ? {} : { byHand: hand }),
    }));
    fc.assert(
      fc.property(deliveries, (delivery) => {
        expect(readDelivery(arrived(publishDelivery(delivery)))).toEqual(delivery);
      }),
    );
  });

  test('is read from a note in which nothing was by hand, as all were once', () => {
    const guids = `${aDelivery().subscription} 3 ${aDelivery().event}`;
    const note = `1 ${guids} 2 1700000000000 1700000000000 1700000001000 hop 4`;
    expect(readDelivery({ ...arrived(publishDelivery(aDelivery())), note })).toEqual({
      ...aDelivery({ attempt: 2 }),
      dueAt: 1_700_000_001_000,
      hop: 4,
    });
  });

  test('that is sent by hand stays so, when it waits and when it is made again', () => {
    const byHand = { why: 'resend', fromAttempt: 5 } as const;
    const delivery = aDelivery({ attempt: 5, byHand });
    expect(readDelivery(arrived(park(delivery, { account: ACCOUNT, why: 'hung' }).otherwise))).toMatchObject({
      ...delivery,
      hop: 1,
    });
    expect(readDelivery(arrived(publishRetry({ ...delivery, attempt: 6 }, 1_000)))).toEqual({
      ...delivery,
      attempt: 6,
    });
  });

  test('keeps its trace', () => {
    const delivery = aDelivery({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
    expect(readDelivery(arrived(publishDelivery(delivery)))).toEqual(delivery);
  });

  test('is told from what it was before each time that it is moved, and its retry begins anew', () => {
    const moved = readDelivery(arrived(park(aDelivery(), { account: ACCOUNT, why: 'full' }).otherwise)) as Delivery;
    expect(moved).toEqual({ ...aDelivery(), hop: 1, mayBeParked: true });
    const again = park(moved, { account: ACCOUNT, why: 'hung' });
    expect(again.row.hop).toBe(2);
    expect(readDelivery(arrived(again.otherwise))).toMatchObject({ hop: 2 });
    expect(readDelivery(arrived(publishRetry({ ...aDelivery(), hop: 2 }, 4_000)))).toEqual(aDelivery());
  });

  test('that the broker had out before may be parked already, and one that comes for the first time is not', () => {
    const message = arrived(publishDelivery(aDelivery()));
    expect(readDelivery(message)).not.toHaveProperty('mayBeParked');
    expect(readDelivery({ ...message, deliveryCount: 1 })).toHaveProperty('mayBeParked', true);
  });

  test('may be an open request if it came before in a batch, and not if it was sent from there', () => {
    const message = arrived(publishDelivery(aDelivery()));
    const again = { ...message, deliveryCount: 1 };
    expect(readDelivery({ ...again, cameBefore: true })).toMatchObject({ mayBeParked: true, mayBeOpen: true });
    expect(readDelivery(again)).not.toHaveProperty('mayBeOpen');
  });

  test('that was parked and set aside as a suspect is attempted, though its own row may still be there', () => {
    const { row } = park(aDelivery(), { account: ACCOUNT, why: 'full' });
    const { parked: _, ...suspect } = unpark(row, { deaths: 0, isOverLimit: false });
    for (const deliveryCount of [0, 1]) {
      expect(readDelivery({ ...suspect, deliveryCount })).not.toHaveProperty('mayBeParked');
    }
  });

  test('that is forgotten is no suspect, however many owners died: it makes no request', () => {
    const { row } = park(aDelivery(), { account: ACCOUNT, why: 'full' });
    const dead = { deaths: 3, isOverLimit: false };
    expect(unpark({ ...row, isForgotten: true }, dead).deaths).toBe(0);
    expect(unpark(row, dead).deaths).toBe(3);
  });

  test('is the same after it was parked, one hop on, and says what it waited for', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const delivery = aDelivery({ dueAt: 1_700_000_001_000, traceparent });
    const { row } = park(delivery, { account: ACCOUNT, why: 'hung', notBeforeMs: 4_000 });
    expect(row).toMatchObject({ delivery: delivery.guid, notBeforeMs: 4_000, action: 'carrier.order.created' });
    expect(readDelivery(unpark(row, { deaths: 2, isOverLimit: true }))).toEqual({
      ...delivery,
      hop: 1,
      parked: { why: 'hung', isOverLimit: true },
    });
  });

  test('that cannot be parked waits in the broker, with the key by which it returns', () => {
    expect(park(aDelivery(), { account: ACCOUNT, why: 'full' }).otherwise).toMatchObject({
      exchange: 'waybell.waiting',
      routingKey: 'carrier.order.created',
    });
  });

  test('goes to the queue of its action, and its retry to that of its action and delay', () => {
    expect(publishDelivery(aDelivery())).toMatchObject({
      exchange: 'waybell.deliveries',
      routingKey: 'carrier.order.created',
    });
    expect(publishRetry(aDelivery(), 4_000)).toMatchObject({
      exchange: 'waybell.retry',
      routingKey: 'carrier.order.created.4s',
    });
  });

  const suffix = ' lane hot-1 via {"a":"b"}';

  test.each<[string, Partial<Delivery>]>([
    ['that is new', {}],
    ['that is due and moved', { attempt: 2, dueAt: 1_700_000_001_000, hop: 4 }],
    ['that is sent by hand', { attempt: 5, byHand: { why: 'resend', fromAttempt: 5 } }],
  ])('%s is read over what a later version wrote behind its note', (_, what) => {
    const delivery = aDelivery(what);
    const { note, ...message } = arrived(publishDelivery(delivery));
    expect(readDelivery({ ...message, note: `${note}${suffix}` })).toEqual(delivery);
  });

  test.each(['2', '12'])('of the later format %s is rejected as that: only a later version reads it', (version) => {
    const message = arrived(publishDelivery(aDelivery()));
    const read = readDelivery({ ...message, note: String(message.note?.replace(/^1 /, `${version} `)) });
    expect(read).toMatchObject({ kind: 'reject', reason: 'newer_format' });
    expect(read).toHaveProperty('detail', expect.stringContaining(`a delivery of format ${version}`));
  });

  test.each([
    ['without an id', { messageId: undefined }],
    ['without a note', { note: undefined }],
    ['with a note of no version', { note: arrived(publishDelivery(aDelivery())).note?.replace(/^1 /, '0 ') }],
    ['of an unknown interface', { type: 'broker.order.created' }],
    ['that is of no batch', { deliveries: undefined }],
    ['with something behind the note', { note: `${arrived(publishDelivery(aDelivery())).note} 1 1` }],
    ['with a word and no value behind the note', { note: `${arrived(publishDelivery(aDelivery())).note} lane` }],
    ['by hand from nowhere', { note: `${arrived(publishDelivery(aDelivery())).note} resend` }],
    ['by hand from before the first attempt', { note: `${arrived(publishDelivery(aDelivery())).note} resend 0` }],
    ['by hand from an attempt to come', { note: `${arrived(publishDelivery(aDelivery())).note} test 2` }],
  ])('%s is rejected', (_what, { ...change }) => {
    const message = { ...arrived(publishDelivery(aDelivery())), ...change } as Message;
    expect(readDelivery(message)).toMatchObject({ kind: 'reject', reason: 'not_a_delivery' });
  });
});
