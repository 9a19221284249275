import { describe, expect, test } from '@jest/globals';
import { reject, type Message, rejectNewer } from '@waybell/line/messages';
import { reportRejectedEvent, refuseEvent } from './reject-event.ts';
import { readEvent } from '@waybell/events/read-event';

const EVENT = '0b4f2f4e-5d0a-4a35-9a3c-1f6c7b1d8e01';
const ORDER = '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11';

const limits = { maxBytes: 1_000 };

const aMessage = (body: object | string, what: Partial<Message> = {}): Message => ({
  queue: 'waybell.events.router',
  exchange: 'waybell.events',
  routingKey: 'carrier.order.created',
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  deliveryCount: 0,
  failures: 0,
  ...what,
});

function report(message: Message, rejection = reject('payload_invalid', '/payload/id: is missing', '/payload/id')) {
  const [recorded, published, ...others] = reportRejectedEvent(limits, () => 0)(message, rejection);
  if (recorded?.kind !== 'outcome' || published?.kind !== 'publish' || others.length > 0)
    throw new Error('other kinds');
  const notice: unknown = JSON.parse(published.body.toString());
  return { record: recorded.outcome, published, notice };
}

describe('reportRejectedEvent', () => {
  test('records the event for those who look for it, and tells upstream', () => {
    const { record, published, notice } = report(aMessage({ guid: EVENT, payload: { order_guid: ORDER } }));
    expect(record).toMatchObject({
      event: EVENT,
      interface: 'carrier',
      action: 'order.created',
      keys: [{ kind: 'order_guid', key: ORDER }],
      reason: 'payload_invalid',
      detail: '/payload/id: is missing',
    });
    expect(published).toMatchObject({ exchange: 'waybell.notices', routingKey: '' });
    expect(notice).toEqual({
      guid: EVENT,
      interface: 'carrier',
      action: 'order.created',
      reason: 'payload_invalid',
      place: '/payload/id',
      detail: '/payload/id: is missing',
      nearest: null,
      message_id: null,
      routing_key: 'carrier.order.created',
      rejected_at: '1970-01-01T00:00:00.000Z',
    });
  });

  test('records what has no guid by one that stands for its bytes, says so, and tells upstream that there is none', () => {
    const message = aMessage(`{"payload":{"order_guid":"${ORDER}"`);
    const [once, again] = [report(message), report(message)];
    expect(once.record).toEqual(again.record);
    expect(once.record).toMatchObject({
      keys: [{ kind: 'guid', key: ORDER }],
      detail: expect.stringContaining('stands for its bytes'),
    });
    expect(once.notice).toMatchObject({ guid: null });
  });

  test('records an event whose interface cannot be told', () => {
    const { record, notice } = report(aMessage({ guid: EVENT }, { routingKey: 'orders' }));
    expect(record).toMatchObject({ event: EVENT, interface: null, action: 'orders' });
    expect(notice).toMatchObject({ interface: null, routing_key: 'orders' });
  });

  test('names the nearest key, where another was meant', () => {
    const message = aMessage('{}', { routingKey: 'Carrier.order.created', messageId: EVENT });
    const unroutable = reject('unroutable', 'no queue takes it');
    expect(report(message, unroutable).notice).toMatchObject({ nearest: 'carrier.order.created', place: null });
  });

  test('tells upstream nothing of how Waybell itself failed', () => {
    const { record, notice } = report(aMessage({ guid: EVENT }), reject('handler_failed', 'Error: secret'));
    expect(record).toMatchObject({ detail: 'Error: secret' });
    expect(notice).toMatchObject({ reason: 'handler_failed', detail: null });
  });

  test('records what is only too new, and tells upstream nothing', () => {
    const reported = reportRejectedEvent(limits, () => 0)(aMessage({ guid: EVENT }), rejectNewer('an event'));
    expect(reported).toMatchObject([{ kind: 'outcome', outcome: { event: EVENT, reason: 'newer_format' } }]);
  });

  test('tells the user that published the event', () => {
    expect(report(aMessage({ guid: EVENT }, { userId: 'orders-team' })).published.routingKey).toBe('orders-team');
  });
});

const LATER = 'carrier.order.archived';

/** Reads an event of that action, published by that key; returns it, or its rejection. */
function becomes(routingKey: string, members: object, contentType = 'application/json') {
  const body = Buffer.from(JSON.stringify(members));
  const message = { routingKey, body, contentType, queue: 'q', exchange: 'e', deliveryCount: 0, failures: 0 };
  const reading = readEvent(message, { maxBytes: 2 ** 20, maxDepth: 32 });
  return reading.kind === 'event' ? reading : refuseEvent(message, reading);
}

describe('refuseEvent', () => {
  test.each([
    ['as plain JSON', { interface: 'carrier', action: 'order.archived' }, 'application/json'],
    ['as a CloudEvent', { specversion: '1.0', type: LATER, data: {} }, 'application/cloudevents+json'],
  ])('rejects an event that came by the key of its own unknown action as too new, %s', (_how, members, contentType) => {
    expect(becomes(LATER, members, contentType)).toMatchObject({ kind: 'reject', reason: 'newer_format' });
  });

  test.each([
    [
      'that came by another key',
      'carrier.order.created',
      { interface: 'carrier', action: 'order.archived' },
      'unknown_action',
    ],
    ['that names no action', LATER, { interface: 'carrier' }, 'envelope_invalid'],
    [
      'of another action than its key says',
      LATER,
      { interface: 'carrier', action: 'order.created' },
      'routing_key_differs',
    ],
    [
      'that breaks the contract',
      'carrier.order.created',
      { interface: 'carrier', action: 'order.created' },
      'envelope_invalid',
    ],
  ])('rejects one %s', (_which, routingKey, members, reason) => {
    expect(becomes(routingKey, members)).toMatchObject({ kind: 'reject', reason });
  });
});
