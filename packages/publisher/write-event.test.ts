import { describe, expect, test } from '@jest/globals';
import { actions, reports } from '@waybell/catalog/actions';
import { exampleEvent } from '@waybell/contracts/example-event';
import { JsonNumber } from '@waybell/events/json';
import { type EventInput, writeEvent } from './write-event.ts';
import { InvalidEvent } from './publish-errors.ts';

const guid = '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51';
const pickedUp = { interface: 'shipper', action: 'order.picked_up' } as const;
const right = { ...pickedUp, parties: { shipper: guid }, payload: { order_guid: guid } };

const refused = (event: EventInput): InvalidEvent | undefined => {
  try {
    writeEvent(event);
  } catch (error) {
    if (error instanceof InvalidEvent) return error;
    throw error;
  }
};

/** The compiler holds each against the type: it fails where one of the latter two lists compiles. */
const taken: EventInput[] = [
  right,
  { ...right, guid, occurred_at: new Date(0) },
  { ...right, occurred_at: '2026-11-20T09:30:00.123456789Z' },
  { interface: 'carrier', action: 'order.created', parties: { carrier: guid }, payload: { id: 1n, status: 'new' } },
  // Sent on as it is, whatever it is.
  {
    interface: 'carrier',
    action: 'order.updated',
    parties: { carrier: guid },
    payload: { stops: [{ city: 'Austin' }] },
  },
];
const wrong: [place: string, event: EventInput][] = [
  // @ts-expect-error the payload lacks what the action needs
  ['/payload/order_guid', { ...pickedUp, parties: { shipper: guid }, payload: {} }],
  // @ts-expect-error a member of the wrong type
  ['/payload/order_guid', { ...pickedUp, parties: { shipper: guid }, payload: { order_guid: 1 } }],
  // @ts-expect-error the party that it needs is missing
  ['/parties/shipper', { ...pickedUp, parties: {}, payload: { order_guid: guid } }],
  // @ts-expect-error there is no such action
  ['/action', { ...right, action: 'order.picked' }],
  // @ts-expect-error the other interface has no such action
  ['/action', { ...right, interface: 'carrier', action: 'offer.sent' }],
  // @ts-expect-error null is no guid
  ['/guid', { ...right, guid: null }],
  ['/guid', { ...right, guid: '4711' }],
  ['/occurred_at', { ...right, occurred_at: 'yesterday' }],
  ['/payload/order_guid', { ...right, payload: { order_guid: 'x' } }],
];
/** Waybell leaves them out, but who writes them means something else. */
const superfluous: EventInput[] = [
  // @ts-expect-error a member that the action does not have
  { ...pickedUp, parties: { shipper: guid }, payload: { order_guid: guid, by: 'Ann' } },
  // @ts-expect-error a party that the action does not need
  { ...pickedUp, parties: { shipper: guid, carrier: guid }, payload: { order_guid: guid } },
  // @ts-expect-error a member that no event has
  { ...right, version: 2 },
];

describe('writeEvent', () => {
  test.each([...taken, ...superfluous])('takes $interface $action', (event) => {
    expect(JSON.parse(writeEvent(event).body.toString())).toMatchObject({ payload: expect.anything() });
  });

  test.each(wrong)('refuses what is wrong at %s', (place, event) => {
    expect(refused(event)).toMatchObject({ place, detail: expect.stringContaining(place) });
  });

  test.each([null, undefined, 'x', 5, []])('refuses %j, which is no event', (event) => {
    expect(refused(event as never)).toBeInstanceOf(InvalidEvent);
  });

  test('refuses half of a surrogate pair, which Postgres would refuse in the transaction', () => {
    const event = { ...right, error_message: 'cut \ud83d' };
    expect(refused(event)).toMatchObject({ reason: 'not_utf8', place: '/error_message' });
  });

  test('takes the example of every action, digit for digit', () => {
    for (const action of [...actions, ...reports]) {
      const event = exampleEvent(action);
      const { body, routingKey } = writeEvent(event as unknown as EventInput); // Its types are those of data.
      expect(body.toString()).toBe(JSON.stringify(event));
      expect(routingKey).toBe(`${action.interface}.${action.name}`);
    }
  });

  test('fills in a guid of its own for each event, and the time', () => {
    const [one, other] = [writeEvent(right), writeEvent(right)];
    expect(one.guid).not.toBe(other.guid);
    const { guid: written, occurred_at: at } = JSON.parse(one.body.toString());
    expect(written).toBe(one.guid);
    expect(new Date(at).toISOString()).toBe(at);
  });

  test('names an event by its guid in lower case, and leaves it as it is written', () => {
    const event = writeEvent({ ...right, guid: guid.toUpperCase() });
    expect(event.guid).toBe(guid);
    expect(event.body.toString()).toContain(guid.toUpperCase());
  });

  test('writes numbers with the digits that they have', () => {
    const { body } = writeEvent({
      interface: 'carrier',
      action: 'order.updated',
      parties: { carrier: guid },
      payload: { id: 12345678901234567890n, price: new JsonNumber('1250.50') },
    });
    expect(body.toString()).toContain('"payload":{"id":12345678901234567890,"price":1250.50}');
  });

  test('says which action is the nearest, where there is none of that name', () => {
    // @ts-expect-error there is no such action
    expect(refused({ ...right, action: 'order.pickedup' })).toMatchObject({
      reason: 'unknown_action',
      nearest: 'shipper.order.picked_up',
    });
  });

  test('refuses what is larger than Waybell takes', () => {
    const note = 'x'.repeat(2 ** 20);
    const event: EventInput = {
      interface: 'carrier',
      action: 'order.updated',
      parties: { carrier: guid },
      payload: { note },
    };
    expect(refused(event)?.reason).toBe('too_large');
  });
});
