import { describe, expect, test } from '@jest/globals';
import { readEvent } from '@waybell/events/read-event';
import { largestNotification, notify } from './notification.ts';

const GUID = 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0';
const EVENT_BYTES = 2 ** 20;
const SHORT_NAMES = Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at)).filter(
  (name) => name !== '"' && name !== '\\',
);

type Side = { interface: 'shipper' | 'carrier'; action: string; payload: object };

/** The notification of an event that is filled up to exactly the limit. */
function notificationOf({ interface: side, action, payload }: Side): Buffer {
  const written = JSON.stringify({
    guid: GUID,
    interface: side,
    action,
    occurred_at: '2026-11-20T09:30:00Z',
    parties: { [side]: GUID },
    payload,
  });
  const room = EVENT_BYTES - written.length + '"FILL"'.length;
  const body = Buffer.from(written.replace('"FILL"', JSON.stringify('x'.repeat(room - 2))));
  expect(body).toHaveLength(EVENT_BYTES);
  const reading = readEvent({ body }, { maxBytes: EVENT_BYTES, maxDepth: 32 });
  if (reading.kind === 'invalid') throw new Error(reading.detail);
  const auditFieldSet = action === 'order.created' && side === 'shipper' ? ['number', 'price'] : null;
  const notification = notify(reading.event)({ auditFieldSet, messageGuid: GUID });
  if (notification.kind === 'suppressed') throw new Error(notification.reason);
  return notification.body;
}

/** Returns the most members that fit into few bytes. */
function manyMembers(): object {
  const few = Object.fromEntries(SHORT_NAMES.map((name) => [name, 1]));
  const more = Object.fromEntries(SHORT_NAMES.map((name) => [name, few]));
  return Object.fromEntries(SHORT_NAMES.slice(0, 19).map((name) => [name, more]));
}

describe('the largest notification', () => {
  test('is hardly larger than its event', () => {
    const payload = { id: 1, status: 'FILL' };
    const { length } = notificationOf({ interface: 'carrier', action: 'order.created', payload });
    expect(length).toBeGreaterThan(EVENT_BYTES - 1_024);
    expect(length).toBeLessThan(EVENT_BYTES + 1_024);
  });

  test('of an object of which every member is new is many times as large, and within the bound', () => {
    const revision = { guid: GUID, after: { number: manyMembers(), price: 'FILL' } };
    const payload = { order_guid: GUID, revision };
    const { length } = notificationOf({ interface: 'shipper', action: 'order.created', payload });
    expect(length).toBeGreaterThan(5.8 * EVENT_BYTES);
    expect(length).toBeLessThan(largestNotification(EVENT_BYTES));
  });
});
