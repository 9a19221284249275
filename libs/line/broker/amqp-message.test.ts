import { describe, expect, test } from '@jest/globals';
import type { ConsumeMessage } from 'amqplib';
import { readMessage } from './amqp-message.ts';

// `readMessage` reads only these properties.
const aMessage = (exchange: string, properties: object) =>
  ({
    content: Buffer.from('{}'),
    fields: { exchange, routingKey: 'k', redelivered: false, deliveryTag: 1, consumerTag: '' },
    properties,
  }) as ConsumeMessage;

describe('readMessage', () => {
  test('knows by which exchange a message had come that the broker gave up, and why', () => {
    const died = { reason: 'expired', exchange: 'waybell.events', queue: 'waybell.events.router' };
    const headers = { 'x-death': [died] };
    expect(readMessage('q', aMessage('waybell.strays', { headers }))).toMatchObject({
      exchange: 'waybell.events',
      death: { reason: 'expired', queue: 'waybell.events.router', isOfPublisher: false },
    });
    const forged = readMessage(
      'q',
      aMessage('waybell.events', { headers: { 'x-death': [{ ...died, exchange: 'x' }] } }),
    );
    expect(forged).toMatchObject({ exchange: 'waybell.events' });
    expect(forged).not.toHaveProperty('death');
    const ofPublisher = { 'x-death': [{ ...died, 'original-expiration': '1000' }] };
    expect(readMessage('q', aMessage('waybell.strays', { headers: ofPublisher })).death?.isOfPublisher).toBe(true);
  });

  test('knows of a message that the broker moved out of the rejected queue why it was there, and where it came from', () => {
    const died = { reason: 'expired', exchange: 'waybell.rejected', queue: 'waybell.rejected' };
    const aside = {
      'waybell-reason': 'payload_invalid',
      'waybell-detail': 'd',
      'waybell-at': '2026-11-20T09:30:00.123Z',
      'waybell-queue': 'waybell.events.router',
      'waybell-exchange': 'waybell.events',
      'waybell-routing-key': 'carrier.order.created',
      'waybell-user': 'orders',
    };
    const headers = { ...aside, 'x-death': [died] };
    expect(readMessage('waybell.strays', aMessage('waybell.strays', { headers }))).toMatchObject({
      queue: 'waybell.events.router',
      exchange: 'waybell.events',
      routingKey: 'carrier.order.created',
      userId: 'orders',
      death: { rejected: { reason: 'payload_invalid', detail: 'd', at: '2026-11-20T09:30:00.123Z' } },
    });
    const before = {
      reason: 'delivery_limit',
      exchange: 'waybell.events',
      queue: 'waybell.strays',
      'routing-keys': ['k'],
    };
    const byBroker = { 'x-death': [died, before] };
    expect(readMessage('waybell.strays', aMessage('waybell.strays', { headers: byBroker }))).toMatchObject({
      queue: 'waybell.strays',
      exchange: 'waybell.events',
      routingKey: 'k',
      death: { rejected: { reason: 'delivery_limit', detail: '', at: '' } },
    });
  });

  test('knows of a suspect that the broker moved out of its lane where it came from', () => {
    const origin = { 'waybell-queue': 'q', 'waybell-exchange': 'waybell.returns', 'waybell-routing-key': 'k' };
    const died = { reason: 'delivery_limit', exchange: 'waybell.suspected', queue: 'waybell.suspected.deliverer' };
    const headers = { ...origin, 'x-death': [died] };
    const moved = readMessage('waybell.strays', aMessage('waybell.strays', { headers }));
    expect(moved).toMatchObject({ queue: 'waybell.strays', exchange: 'waybell.returns', routingKey: 'k' });
    expect(moved).not.toHaveProperty('isSuspect');
  });

  test('knows who published it from the broker, and of a suspect from whoever put it aside', () => {
    const headers = { 'waybell-user': 'forged' };
    expect(readMessage('q', aMessage('waybell.events', { headers, userId: 'orders' })).userId).toBe('orders');
    expect(readMessage('q', aMessage('waybell.events', { headers }))).not.toHaveProperty('userId');
    const suspect = aMessage('waybell.suspected', { headers: { 'waybell-user': 'orders' } });
    expect(readMessage('q', suspect).userId).toBe('orders');
  });

  test('reads a CloudEvent in binary mode as one that is structured', () => {
    const headers = { 'cloudEvents:specversion': '1.0', 'cloudEvents:id': 'x' };
    const message = readMessage('q', aMessage('waybell.events', { headers, contentType: 'application/json' }));
    expect(message.contentType).toBe('application/cloudevents+json');
    expect(JSON.parse(message.body.toString())).toMatchObject({ id: 'x', data: {} });
  });
});
