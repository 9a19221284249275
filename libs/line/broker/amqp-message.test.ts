import { describe, expect, test } from '@jest/globals';
import type { ConsumeMessage } from 'amqplib';
import { readMessage, structuredContent } from './amqp-message.ts';
import { gunzipSync, gzipSync } from 'node:zlib';
import { CloudEvent, HTTP, Kafka } from 'cloudevents';

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

const TIME = '2026-11-20T09:30:00.123Z';
const DATA = { parties: { carrier: 'e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1' }, payload: { id: 4711, note: 'Größe "L"' } };
const event = new CloudEvent({
  id: 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0',
  source: '/tms',
  type: 'carrier.order.created',
  subject: 'orders/4711',
  time: TIME,
  datacontenttype: 'application/json',
  data: DATA,
});

/** Encodes an event as the CloudEvents library does: attributes in headers such as `ce_id`. */
const inBinary = Kafka.binary(event);
const attributes = Object.fromEntries(
  Object.entries(inBinary.headers).flatMap(([name, value]) => (name.startsWith('ce_') ? [[name.slice(3), value]] : [])),
);
const named = (prefix: string, what: Record<string, unknown> = attributes) =>
  Object.fromEntries(Object.entries(what).map(([name, value]) => [`${prefix}${name}`, value]));

type Properties = { headers?: object; contentType?: string; contentEncoding?: string };

/** Builds a message with the properties that `structuredContent` reads. */
function structuredOf({ body = DATA_BYTES, ...properties }: Properties & { body?: Buffer }) {
  const message = { content: body, properties: { contentType: 'application/json', ...properties } };
  return structuredContent(message as unknown as Parameters<typeof structuredContent>[0]);
}
const DATA_BYTES = Buffer.from(JSON.stringify(DATA));
const parsed = (content: ReturnType<typeof structuredOf>): unknown => JSON.parse(String(content?.body));

describe('structuredContent', () => {
  test.each(['cloudEvents:', 'cloudEvents_', 'ce_', 'ce-', 'CE-'])(
    'makes of %s headers what the library of CloudEvents makes of the event',
    (prefix) => {
      const content = structuredOf({ headers: { ...named(prefix), traceparent: 'not one of them' } });
      expect(parsed(content)).toEqual(JSON.parse(String(HTTP.structured(event).body)));
      expect(content?.contentType).toBe('application/cloudevents+json');
    },
  );

  test('leaves the data as it was, to the digit', () => {
    const body = Buffer.from('{ "payload" : {"price":0.10,"id":9007199254740993} }');
    expect(String(structuredOf({ headers: named('ce_'), body })?.body)).toContain(`"data":${body.toString()}}`);
  });

  test.each([
    ['a mark', Buffer.from(`\uFEFF${JSON.stringify(DATA)}`)],
    ['UTF-16', Buffer.from(`\uFEFF${JSON.stringify(DATA)}`, 'utf16le')],
  ])('has data with %s in UTF-8', (_what, body) => {
    expect(structuredOf({ headers: named('ce_'), body })).toEqual(structuredOf({ headers: named('ce_') }));
  });

  test('has data that is no JSON in base64, as the library does', () => {
    const xml = { contentType: 'application/xml', body: Buffer.from('<order/>') };
    expect(parsed(structuredOf({ headers: named('ce_'), ...xml }))).toMatchObject({
      datacontenttype: 'application/xml',
      data_base64: 'PG9yZGVyLz4=',
    });
  });

  test('is the same bytes, in whatever order its headers come', () => {
    const reversed = Object.fromEntries(Object.entries(attributes).toReversed());
    expect(structuredOf({ headers: named('ce_', reversed) })).toEqual(structuredOf({ headers: named('ce_') }));
  });

  test('stays compressed where it was', () => {
    const headers = named('ce_');
    const packed = structuredOf({ headers, body: gzipSync(DATA_BYTES), contentEncoding: 'gzip' });
    expect(gunzipSync(packed?.body ?? '')).toEqual(structuredOf({ headers })?.body);
  });

  test('reads a timestamp of AMQP', () => {
    const headers = { ...named('ce_'), ce_time: { '!': 'timestamp', value: Date.parse(TIME) / 1_000 } };
    expect(parsed(structuredOf({ headers }))).toMatchObject({ time: TIME });
  });

  test.each([
    ['has no version of CloudEvents', { headers: { ce_id: 'x' } }],
    ['has no headers', {}],
    ['is structured', { headers: named('ce_'), contentType: 'application/cloudevents+json; charset=utf-8' }],
    ['is a broken gzip stream', { headers: named('ce_'), contentEncoding: 'gzip' }],
    ['is in UTF-32', { headers: named('ce_'), body: Buffer.from([0xff, 0xfe, 0, 0]) }],
    ['inflates beyond what a broker takes', { ...aBomb(), headers: named('ce_') }],
  ])('leaves alone what %s', (_what, message) => {
    expect(structuredOf(message)).toBeUndefined();
  });

  test('lets no header speak for the data, and no data for a header', () => {
    const headers = { ...named('ce_'), ce_data: '{}' };
    expect(structuredOf({ headers })).toEqual(structuredOf({ headers: named('ce_') }));
    const body = Buffer.from('{},"type":"carrier.order.cancelled"');
    // The event reader rejects a duplicate member.
    expect(String(structuredOf({ headers: named('ce_'), body })?.body).match(/"type":/g)).toHaveLength(2);
  });
});

function aBomb(): Properties & { body: Buffer } {
  return { body: gzipSync(Buffer.alloc(16 * 1024 * 1024 + 1)), contentEncoding: 'gzip' };
}
