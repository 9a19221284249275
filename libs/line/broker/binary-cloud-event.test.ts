import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { CloudEvent, HTTP, Kafka } from 'cloudevents';
import { structuredContent } from './amqp-message.ts';

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
