import { describe, expect, test } from '@jest/globals';
import type { GetMessage } from 'amqplib';
import { publishOptions } from '../broker/amqp-message.ts';
import { asSent, joinDeliveries, openBatch } from '../delivery-batch.ts';
import { publishRejected } from '../hand-over/suspicion.ts';
import { publishAgain, reject, type Message, type Publication } from '../messages.ts';
import { aDelivery } from '../testing/a-delivery.ts';
import { readRejected } from './rejected-queue.ts';

/** An amqplib message with the members that are read. */
const aMessage = (headers: Record<string, unknown>, properties: Record<string, unknown> = {}): GetMessage =>
  ({
    content: Buffer.from('{"a":1}'),
    fields: { exchange: 'waybell.rejected', routingKey: '', redelivered: false, deliveryTag: 1, messageCount: 0 },
    properties: { ...properties, headers },
  }) as unknown as GetMessage;

const ASIDE = {
  'waybell-reason': 'payload_invalid',
  'waybell-detail': '/payload: is missing',
  'waybell-at': '2026-11-20T09:30:00.123Z',
  'waybell-queue': 'waybell.events.router',
  'waybell-exchange': 'waybell.events',
  'waybell-routing-key': 'carrier.order.created',
};

describe('readRejected', () => {
  test('reads what the line wrote when it put the message aside', () => {
    const properties = { messageId: 'm', correlationId: 'n', contentType: 'application/json' };
    expect(readRejected(aMessage({ ...ASIDE, 'waybell-user': 'u' }, properties))).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{10}$/),
      reason: 'payload_invalid',
      detail: '/payload: is missing',
      rejectedAt: '2026-11-20T09:30:00.123Z',
      queue: 'waybell.events.router',
      exchange: 'waybell.events',
      routingKey: 'carrier.order.created',
      messageId: 'm',
      userId: 'u',
      note: 'n',
      contentType: 'application/json',
      body: Buffer.from('{"a":1}'),
    });
  });

  const delivery = (guid: string): Message => {
    const carried = aDelivery({ guid, traceparent: '00-aa-bb-01' });
    return {
      queue: 'waybell.deliveries.carrier.order.created',
      exchange: 'waybell.deliveries',
      routingKey: 'carrier.order.created',
      type: 'carrier.order.created',
      messageId: guid,
      body: carried.body,
      contentType: 'application/json',
      traceparent: '00-aa-bb-01',
      delivery: carried,
      deliveryCount: 0,
      failures: 0,
    };
  };
  const sent = (publication: Publication) => {
    const { headers = {}, ...properties } = publishOptions(publication);
    return { ...aMessage(headers, properties), content: publication.body };
  };

  test('reads a delivery out of its batch, and sent again it is in one', () => {
    const { deliveryCount: _, failures: __, ...facts } = delivery('d');
    const rejected = readRejected(sent(asSent(publishRejected(delivery('d'), reject('expired', 'why'), 0))));
    expect(rejected).toMatchObject({ ...facts, reason: 'expired', detail: 'why' });
    expect(JSON.parse(rejected.note ?? '')).toEqual({ ...facts.delivery, body: undefined });
    const again = asSent(publishAgain(rejected, { exchange: 'waybell.deliveries', routingKey: facts.routingKey }));
    const { content: body, properties } = sent(again);
    const { contentType, correlationId: note } = properties;
    expect(openBatch({ ...delivery(''), body, contentType, note })).toMatchObject([delivery('d')]);
  });

  test('leaves a batch of several closed, which is sent again as it is', () => {
    const several = joinDeliveries(['a', 'b'].map((id) => ({ publication: publishAgain(delivery(id), delivery(id)) })));
    const [{ publication } = { publication: asSent(publishAgain(delivery('a'), delivery('a'))) }] = several;
    const rejected = readRejected(sent(publication));
    expect([rejected.note, rejected.body]).toEqual(['1 2', publication.body]);
    expect(asSent(publishAgain(rejected, publication)).body).toBe(publication.body);
  });

  test("reads the broker's own words where the broker put it there", () => {
    const death = {
      reason: 'delivery_limit',
      queue: 'waybell.strays',
      exchange: 'waybell.events',
      'routing-keys': ['k'],
    };
    expect(readRejected(aMessage({ 'x-death': [death] }))).toMatchObject({
      reason: 'delivery_limit',
      queue: 'waybell.strays',
      exchange: 'waybell.events',
      routingKey: 'k',
      rejectedAt: '',
    });
  });

  test('reads a CloudEvent in binary mode that the broker put there as one that is structured', () => {
    const headers = { ce_specversion: '1.0', ce_id: 'x', 'x-death': [{ reason: 'rejected' }] };
    const { body, contentType } = readRejected(aMessage(headers, { contentType: 'application/json' }));
    expect([contentType, JSON.parse(body.toString())]).toEqual([
      'application/cloudevents+json',
      { datacontenttype: 'application/json', id: 'x', specversion: '1.0', data: { a: 1 } },
    ]);
  });

  test('says so where no reason was left', () => {
    expect(readRejected(aMessage({}))).toMatchObject({ reason: 'unknown', queue: '', exchange: 'waybell.rejected' });
  });

  test('gives it an id that stays when it moves and differs from that of others', () => {
    const { id } = readRejected(aMessage(ASIDE));
    expect(readRejected(aMessage({ ...ASIDE, 'x-delivery-count': 7 })).id).toBe(id);
    expect(readRejected(aMessage({ ...ASIDE, 'waybell-at': '2026-11-20T09:30:00.124Z' })).id).not.toBe(id);
  });
});
