import { describe, expect, test } from '@jest/globals';
import { checkEvents } from './check-events.ts';
import { splitEvents } from './split-events.ts';

const LIMITS = { maxBytes: 2_000, maxDepth: 32 };
const GUID = '0D3F6A0E-61a5-4a6e-9a52-50f6c0b3f7b1';
const OTHER_GUID = '1d3f6a0e-61a5-4a6e-9a52-50f6c0b3f7b1';
const SHIPPER = '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51';

const anEvent = (what: Record<string, unknown> = {}) => ({
  guid: GUID,
  interface: 'shipper',
  action: 'order.picked_up',
  occurred_at: '2026-11-20T09:30:00.123456Z',
  parties: { shipper: SHIPPER },
  payload: { order_guid: '5b0c1b0e-2a55-4a39-8f0e-0c6f2a7f4f10' },
  ...what,
});

const check = (...lines: unknown[]) =>
  checkEvents(
    splitEvents(Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')))
      .events,
    LIMITS,
  );

describe('checkEvents', () => {
  test('publishes the bytes of the event, under the key and the guid that the event names', () => {
    const text = JSON.stringify(anEvent(), null, 2);
    expect(check('', ` ${text} `)).toEqual({
      faults: [],
      unknown: [],
      events: [
        {
          line: 2,
          publication: {
            kind: 'publish',
            exchange: 'waybell.events',
            routingKey: 'shipper.order.picked_up',
            body: Buffer.from(text),
            messageId: GUID.toLowerCase(),
            contentType: 'application/json',
          },
        },
      ],
    });
  });

  test('knows a CloudEvent by its specversion', () => {
    const { parties, payload, occurred_at: time } = anEvent();
    const cloudEvent = { specversion: '1.0', source: '/x', id: GUID, type: 'shipper.order.picked_up', time };
    const [event] = check({ ...cloudEvent, data: { parties, payload } }).events;
    expect(event?.publication).toMatchObject({
      routingKey: 'shipper.order.picked_up',
      contentType: 'application/cloudevents+json',
    });
  });

  test.each([
    ['with a mark', Buffer.from(`\uFEFF${JSON.stringify(anEvent())}`)],
    ['in UTF-16', Buffer.from(JSON.stringify(anEvent()), 'utf16le')],
  ])('publishes an event %s in UTF-8', (_what, bytes) => {
    const { faults, events } = checkEvents([{ line: 1, bytes }], LIMITS);
    expect(faults).toEqual([]);
    expect(events[0]?.publication.body).toEqual(Buffer.from(JSON.stringify(anEvent())));
  });

  test.each([
    ['what is not JSON', '{"guid":', 'not_json'],
    ['what is not an object', '1', 'envelope_invalid'],
    ['an unknown action', anEvent({ action: 'order.vanished' }), 'unknown_action'],
    ['an action that is no text', anEvent({ action: 7 }), 'envelope_invalid'],
    ['a missing party', anEvent({ parties: {} }), 'party_missing'],
    ['a bad payload', anEvent({ payload: {} }), 'payload_invalid'],
    ['an event beyond the limit', anEvent({ note: 'x'.repeat(2_000) }), 'too_large'],
  ])('says what is wrong with %s, and where', (_what, line, reason) => {
    const { faults, events } = check(anEvent({ guid: OTHER_GUID }), line);
    expect(faults).toEqual([{ line: 2, reason, detail: expect.stringMatching(/./) }]);
    expect(events).toHaveLength(1);
  });

  test('names members that the contract does not know, once for each action', () => {
    const payload = { ...anEvent().payload, driver: 'Ann' };
    const other = anEvent({ guid: OTHER_GUID, action: 'order.paid', payload });
    const { events, unknown } = check(anEvent({ version: 2, payload }), other, { ...other, guid: SHIPPER });
    expect(events).toHaveLength(3);
    expect(unknown).toEqual([
      { action: 'shipper.order.picked_up', place: '/version', lines: [1] },
      { action: 'shipper.order.picked_up', place: '/payload/driver', lines: [1] },
      { action: 'shipper.order.paid', place: '/payload/driver', lines: [2, 3] },
    ]);
  });

  test('finds a guid that two different events share, and lets the same event stand twice', () => {
    const { faults } = check(anEvent(), anEvent(), anEvent({ occurred_at: '2026-11-20T09:30:00Z' }));
    expect(faults).toMatchObject([{ line: 3, reason: 'guid_reused' }]);
    expect(faults[0]?.detail).toContain('line 1');
  });
});
