import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  asWaited,
  publishDelivery,
  publishInstead,
  publishRetry,
  publishWaiting,
  readDelivery,
  reportRejectedDelivery,
  wait,
} from './delivery.ts';
import { asSent, readMembers } from './delivery-batch.ts';
import { reject, type Message, type Publication } from './messages.ts';
import { aDelivery, takenOf } from './testing/a-delivery.ts';

const ROOM = { room: '0123456789abcdef0123456789abcdef', account: '0b9c2f6e-7d1f-4e57-8f5e-000000000004' };

/** Returns the members of the batch in which it leaves, as the broker would deliver them. */
function membersOf(publication: Publication): Message[] {
  const { headers: _, kind: __, ...sent } = asSent(publication);
  return readMembers({ ...sent, queue: 'q', deliveryCount: 0, failures: 0 }) ?? [];
}

function arrived(publication: Publication): Message {
  const [member] = membersOf(publication);
  if (member === undefined) throw new Error('a batch of none');
  return member;
}

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
    const sometimes = fc.record({ dueAt: fc.nat(Number.MAX_SAFE_INTEGER) }, { requiredKeys: [] });
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

  test('that is sent by hand stays so, when it waits and when it is made again', () => {
    const byHand = { why: 'resend', fromAttempt: 5 } as const;
    const delivery = aDelivery({ attempt: 5, byHand });
    expect(readDelivery(arrived(publishWaiting(delivery)))).toEqual(delivery);
    expect(readDelivery(arrived(publishRetry({ ...delivery, attempt: 6 }, 1_000)))).toEqual({
      ...delivery,
      attempt: 6,
    });
  });

  test('keeps its trace', () => {
    const delivery = aDelivery({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
    expect(readDelivery(arrived(publishDelivery(delivery)))).toEqual(delivery);
  });

  test('that came again may wait already, and one that comes for the first time does not, nor does a suspect', () => {
    const message = arrived(publishDelivery(aDelivery()));
    const again = { ...message, deliveryCount: 1 };
    expect(readDelivery(message)).not.toHaveProperty('mayWait');
    expect(readDelivery(again)).toHaveProperty('mayWait', true);
    expect(readDelivery({ ...message, cameBefore: true })).toHaveProperty('mayWait', true);
    // The row of a suspect is about to be settled.
    expect(readDelivery({ ...again, isSuspect: true })).not.toHaveProperty('mayWait');
  });

  test('waits in the room of its endpoint, under a key of its attempt, and is the same afterwards', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const delivery = aDelivery({ attempt: 2, dueAt: 1_700_000_001_000, traceparent });
    const { row } = wait({ ...delivery, room: ROOM }, { why: 'hung', afterMs: 4_000 });
    const { subscription, createdAt: madeAt, guid } = delivery;
    expect(row).toMatchObject({ ...ROOM, subscription, madeAt, id: `${guid} 2`, why: 'hung', afterMs: 4_000 });
    const taken = asWaited(takenOf(row), { crashes: 2, isOverLimit: true });
    expect(taken).toMatchObject({ queue: 'waybell.deliveries.carrier.order.created', crashes: 2 });
    expect(readDelivery(taken)).toEqual({ ...delivery, waited: { room: ROOM.room, why: 'hung', isOverLimit: true } });
  });

  test('whose endpoint is not known has no room to wait in', () => {
    expect(() => wait(aDelivery(), { why: 'full' })).toThrow('room of its endpoint');
  });

  test('that waited and was forgotten is no suspect, however many processes died: it makes no request', () => {
    const { row } = wait(aDelivery({ room: ROOM }), { why: 'full' });
    const dead = { crashes: 3, isOverLimit: false };
    expect(asWaited({ ...takenOf(row), isForgotten: true }, dead)).toMatchObject({
      crashes: 0,
      waited: { isForgotten: true },
    });
    expect(asWaited(takenOf(row), dead).crashes).toBe(3);
  });

  test('that no room can take waits in the broker, with the key by which it returns, and may have been taken after all', () => {
    const to = { exchange: 'waybell.waiting', routingKey: 'carrier.order.created' };
    expect(publishWaiting(aDelivery())).toMatchObject(to);
    const instead = publishInstead(wait(aDelivery({ room: ROOM }), { why: 'full' }));
    expect(instead).toMatchObject(to);
    expect(instead.headers).toEqual({ 'waybell-may-wait': 1 });
    expect(readDelivery({ ...arrived(instead), mayWait: true })).toEqual(aDelivery({ mayWait: true }));
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

  test('is rejected where it is none, and where it stayed closed, with the reason', () => {
    const message = arrived(publishDelivery(aDelivery()));
    const { delivery: _, ...event } = message;
    expect(readDelivery(event)).toMatchObject({ kind: 'reject', reason: 'not_a_delivery' });
    const closed = arrived(publishDelivery(aDelivery({ event: 'unknown' })));
    expect(readDelivery(closed)).toMatchObject({ kind: 'reject', reason: 'not_a_delivery' });
    const [report] = reportRejectedDelivery(() => 7)(message, reject('expired', 'why'));
    expect(report).toMatchObject({
      outcome: { kind: 'rejected', delivery: aDelivery().guid, at: 7, reason: 'expired' },
    });
    expect(reportRejectedDelivery(() => 7)(closed, reject('expired', 'why'))).toEqual([]);
  });
});
