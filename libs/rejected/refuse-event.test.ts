import { describe, expect, test } from '@jest/globals';
import { readEvent } from '@waybell/events/read-event';
import { refuseEvent } from './reject-event.ts';

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
