import { describe, expect, test } from '@jest/globals';
import { readEvent } from '@waybell/events/read-event';
import { accountGuid, actionKeyOf, chooseSubscriber, eventFor, readStamp, smallActionKeys, stamp } from './workload.ts';

const limits = { maxBytes: 1_048_576, maxDepth: 32 };

describe('eventFor', () => {
  test.each([...smallActionKeys, 'carrier.order.created'])('makes an event of %s that the router takes', (key) => {
    const { body, actionKey, guid } = eventFor({ n: 7, actionKey: key }, 1_700_000_000_000);
    const reading = readEvent({ body, routingKey: actionKey }, limits);
    expect(reading).toMatchObject({ kind: 'event', event: { guid, receivers: [accountGuid(7)] } });
    expect(body.length).toBeGreaterThan(250);
    expect(body.length).toBeLessThan(350);
  });
});

describe('actionKeyOf', () => {
  test('gives each subscriber one action, and the next subscriber the next', () => {
    const group = { from: 0, to: 4, actionKeys: ['shipper.order.paid', 'shipper.order.booked'] };
    expect([0, 1, 2, 3].map((n) => actionKeyOf(group, n))).toEqual([...group.actionKeys, ...group.actionKeys]);
  });
});

describe('stamp', () => {
  test('is read from a notification as it was written, to 10 µs', () => {
    const atMs = 1_795_219_200_123.45;
    expect(readStamp(`{"order_guid":"${stamp(atMs)}"}`)).toBeCloseTo(atMs, 2);
  });

  test('is not found where there is none', () => {
    expect(readStamp('{"id":4711}')).toBeUndefined();
  });
});

describe('chooseSubscriber', () => {
  const workload = {
    groups: [
      { from: 0, to: 10, weight: 0.1, actionKeys: ['shipper.order.paid'] },
      { from: 10, to: 1_000, weight: 0.9, actionKeys: ['shipper.order.booked'] },
    ],
  };

  test.each([
    [0, 0],
    [0.099, 9],
    [0.1, 10],
    [0.999_999, 999],
  ])('gives each group its share: %d is subscriber %d', (random, subscriber) => {
    expect(chooseSubscriber(workload, () => random).n).toBe(subscriber);
  });

  test('tells the account where all of a group are its clients', () => {
    const group = { from: 0, to: 10, weight: 1, actionKeys: ['shipper.order.paid'], account: 7 };
    expect(chooseSubscriber({ groups: [group] }, () => 0.5).n).toBe(7);
  });

  test('tells the action of the subscriber it chose', () => {
    expect(chooseSubscriber(workload, () => 0.5).actionKey).toBe('shipper.order.booked');
  });
});
