import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Event } from './event.ts';
import { writeJson } from './json.ts';
import { type EventMessage, readEvent } from './read-event.ts';

const limits = { maxBytes: 1_048_576, maxDepth: 32 };
const GUID = 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0';
const SHIPPER = 'e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1';
const BROKER = 'e2e2e2e2-e2e2-4e2e-8e2e-e2e2e2e2e2e2';
const RESOLVED = {
  order_guid: GUID,
  resolver_guid: 'e3e3e3e3-e3e3-4e3e-8e3e-e3e3e3e3e3e3',
  escalation_guid: 'e4e4e4e4-e4e4-4e4e-8e4e-e4e4e4e4e4e4',
};

const anEnvelope = (what: object = {}) => ({
  guid: GUID,
  interface: 'shipper',
  action: 'order.paid',
  occurred_at: '2026-11-20T09:30:00.123456Z',
  parties: { shipper: SHIPPER },
  payload: { order_guid: GUID },
  ...what,
});
const aCloudEvent = (what: object = {}) => ({
  specversion: '1.0',
  id: GUID,
  source: '/platform',
  type: 'shipper.order.paid',
  time: '2026-11-20T09:30:00.123456Z',
  data: { parties: { shipper: SHIPPER }, payload: { order_guid: GUID } },
  ...what,
});
const aMessage = (body: unknown, what: Partial<EventMessage> = {}): EventMessage => ({
  body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
  routingKey: 'shipper.order.paid',
  ...what,
});
const asCloudEvent = { contentType: 'application/cloudevents+json; charset=utf-8' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const read = (message: EventMessage) => readEvent(message, limits);

/** An event of the carrier interface whose id is written so. */
function aNumbered(id: string): EventMessage {
  const payload = { id: 'ID', status: 'new' };
  const envelope = anEnvelope({
    interface: 'carrier',
    action: 'order.created',
    parties: { carrier: SHIPPER },
    payload,
  });
  const body = Buffer.from(JSON.stringify(envelope).replace('"ID"', id));
  return aMessage(body, { routingKey: 'carrier.order.created' });
}

function eventOf(message: EventMessage): Event {
  const reading = read(message);
  if (reading.kind === 'invalid') throw new Error(`${reading.reason} ${reading.detail}`);
  return reading.event;
}

describe('readEvent', () => {
  test('reads who receives what happened when', () => {
    expect(eventOf(aMessage(anEnvelope(), { messageId: GUID, contentType: 'application/json' }))).toEqual({
      guid: GUID,
      action: expect.objectContaining({ interface: 'shipper', name: 'order.paid' }),
      occurredAt: { second: '2026-11-20T09:30:00', nanoseconds: '123456000' },
      receivers: [SHIPPER],
      errorMessage: null,
      payload: { order_guid: GUID },
      unknownMembers: { count: 0, places: [] },
      fingerprint: createHash('sha256').update(JSON.stringify(anEnvelope())).digest('hex'),
    });
  });

  test('compares guids in lower case', () => {
    const upper = anEnvelope({ guid: GUID.toUpperCase(), parties: { shipper: SHIPPER.toUpperCase() } });
    const event = eventOf(aMessage(upper, { messageId: GUID.toUpperCase() }));
    expect([event.guid, ...event.receivers]).toEqual([GUID, SHIPPER]);
  });

  test.each(['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])(
    'takes %s for a guid',
    (guid) => {
      expect(eventOf(aMessage(anEnvelope({ guid }))).guid).toBe(guid);
    },
  );

  test('names members and parties that the contract does not know, and no party that is not needed', () => {
    const parties = { shipper: SHIPPER, broker: null, carrier: 7, agent: SHIPPER };
    const payload = { order_guid: GUID, 'a/b~c': { order_guid: 1 } };
    const event = eventOf(aMessage(anEnvelope({ version: 2, parties, payload })));
    expect(event.unknownMembers).toEqual({ count: 3, places: ['/version', '/parties/agent', '/payload/a~1b~0c'] });
  });

  test('names the first of many members that the contract does not know, and counts all', () => {
    const others = Object.fromEntries(Array.from({ length: 1_000 }, (_, place) => [`other ${place}`, place]));
    const { unknownMembers } = eventOf(aMessage(anEnvelope({ payload: { order_guid: GUID, ...others } })));
    expect(unknownMembers.count).toBe(1_000);
    expect(unknownMembers.places).toEqual(Array.from({ length: 10 }, (_, place) => `/payload/other ${place}`));
  });

  test('names an account once that is two parties of an event', () => {
    const both = anEnvelope({
      action: 'escalation.resolved',
      parties: { shipper: SHIPPER, broker: SHIPPER.toUpperCase() },
      payload: RESOLVED,
    });
    expect(eventOf(aMessage(both, { routingKey: 'shipper.escalation.resolved' })).receivers).toEqual([SHIPPER]);
  });

  test('names both accounts of an event that two parties receive', () => {
    const both = anEnvelope({
      action: 'escalation.resolved',
      parties: { broker: BROKER, shipper: SHIPPER },
      payload: RESOLVED,
    });
    expect(eventOf(aMessage(both, { routingKey: 'shipper.escalation.resolved' })).receivers).toEqual([SHIPPER, BROKER]);
  });

  test.each([
    [
      'unknown_action',
      { action: 'order.payed' },
      '/action: there is no action "order.payed" on the interface "shipper"; the nearest is order.paid',
    ],
    ['unknown_action', { interface: 'broker' }, '/action: there is no action "order.paid" on the interface "broker"'],
    [
      'unknown_action',
      { action: '__proto__' },
      expect.stringMatching(/^\/action: there is no action "__proto__" on the interface "shipper"; /),
    ],
    ['envelope_invalid', { interface: undefined }, '/interface: is missing'],
    ['envelope_invalid', { interface: 7 }, '/interface: must be string'],
    ['envelope_invalid', { action: undefined }, '/action: is missing'],
    ['envelope_invalid', { action: null }, '/action: must be string'],
    ['envelope_invalid', { guid: undefined }, '/guid: is missing'],
    ['envelope_invalid', { guid: 'x' }, '/guid: must be a guid in UUID format'],
    ['envelope_invalid', { occurred_at: 1_763_630_000 }, '/occurred_at: must be string'],
    ['envelope_invalid', { error_message: 7 }, '/error_message: must be string or null'],
    ['envelope_invalid', { parties: undefined }, '/parties: is missing'],
    ['envelope_invalid', { parties: [] }, '/parties: must be object'],
    ['party_missing', { parties: {} }, '/parties/shipper: is missing'],
    ['party_missing', { parties: { broker: BROKER } }, '/parties/shipper: is missing'],
    ['party_missing', { parties: { shipper: null } }, '/parties/shipper: must be string'],
    ['party_missing', { parties: { shipper: '7' } }, '/parties/shipper: must be a guid in UUID format'],
    ['payload_invalid', { payload: undefined }, '/payload: is missing'],
    ['payload_invalid', { payload: null }, '/payload: must be object'],
  ])('refuses as %s: %j', (reason, what, detail) => {
    const place = typeof detail === 'string' ? detail.split(':')[0] : '/action';
    const { interface: interfaceName, action } = { interface: 'shipper', action: 'order.paid', ...what };
    const unknown = reason === 'unknown_action' ? { unknown: `${interfaceName}.${action}` } : {};
    expect(read(aMessage(anEnvelope(what)))).toEqual({ kind: 'invalid', reason, detail, place, ...unknown });
  });

  test('says what is expected at a place, however long its names are', () => {
    const reasons = { ['X'.repeat(10_000)]: 7 };
    const payload = { ...RESOLVED, resolve_reasons: reasons };
    const parties = { shipper: SHIPPER, broker: BROKER };
    const message = aMessage(anEnvelope({ action: 'escalation.resolved', parties, payload }), {
      routingKey: 'shipper.escalation.resolved',
    });
    expect(read(message)).toMatchObject({
      reason: 'payload_invalid',
      detail: expect.stringMatching(/^\/payload\/resolve_reasons\/X{170,180}…: must be string$/),
    });
  });

  test('refuses an ignored that is no flag', () => {
    const message = aMessage(anEnvelope({ action: 'order.picked_up', ignored: 1 }), {
      routingKey: 'shipper.order.picked_up',
    });
    expect(read(message)).toMatchObject({ reason: 'envelope_invalid', detail: '/ignored: must be boolean' });
  });

  test.each([['[]'], ['"x"'], ['null'], ['7']])('refuses %s for an event', (text) => {
    expect(read(aMessage(Buffer.from(text)))).toMatchObject({ detail: 'the body: must be a JSON object' });
  });

  test.each(['', 'shipper.order.pay', 'carrier.order.paid', 'SHIPPER.ORDER.PAID'])(
    'refuses the routing key "%s"',
    (routingKey) => {
      const detail = `the routing key is "${routingKey}", but the body is of shipper.order.paid`;
      expect(read(aMessage(anEnvelope(), { routingKey }))).toEqual({
        kind: 'invalid',
        reason: 'routing_key_differs',
        detail,
      });
    },
  );

  test('goes by the action that upstream wrote when it looks at the routing key of an ignored event', () => {
    const ignored = anEnvelope({ action: 'order.picked_up', ignored: true });
    expect(eventOf(aMessage(ignored, { routingKey: 'shipper.order.picked_up' })).action.name).toBe(
      'order.picked_up.ignored',
    );
    expect(read(aMessage(ignored, { routingKey: 'shipper.order.picked_up.ignored' }))).toMatchObject({
      reason: 'routing_key_differs',
    });
  });

  test.each([BROKER, ''])('refuses the message_id "%s"', (messageId) => {
    const detail = `/guid: is ${GUID}, but message_id is "${messageId}"`;
    expect(read(aMessage(anEnvelope(), { messageId }))).toEqual({
      kind: 'invalid',
      reason: 'message_id_differs',
      detail,
      place: '/guid',
    });
  });

  test.each(['7', '7.0', '70e-1', '-0', '9007199254740993', '1e400'])('takes %s for a whole number', (id) => {
    expect(writeJson(eventOf(aNumbered(id)).payload)).toBe(`{"id":${id},"status":"new"}`);
  });

  test.each(['7.5', '9007199254740993.5', '1e-400', '"7"'])('does not take %s for a whole number', (id) => {
    expect(read(aNumbered(id))).toMatchObject({
      reason: 'payload_invalid',
      detail: '/payload/id: must be integer',
    });
  });

  test('passes on where JSON breaks', () => {
    expect(read(aMessage(Buffer.from('{"guid":1,"guid":2}')))).toMatchObject({ reason: 'duplicate_key' });
  });
});

describe('readEvent of a compressed body', () => {
  const body = Buffer.from(JSON.stringify(anEnvelope()));
  const gzip = { contentEncoding: 'gzip' };

  test('reads gzip, and takes the fingerprint of what was published', () => {
    const compressed = gzipSync(body);
    const { fingerprint } = eventOf(aMessage(compressed, gzip));
    expect(fingerprint).toBe(createHash('sha256').update(compressed).digest('hex'));
  });

  test.each(['', 'identity', 'UTF-8', 'utf-16', 'UTF-16LE'])(
    'takes the content encoding "%s" for none',
    (contentEncoding) => {
      expect(read(aMessage(body, { contentEncoding })).kind).toBe('event');
    },
  );

  test.each([
    ['unknown_encoding', aMessage(body, { contentEncoding: 'br' })],
    ['broken_gzip', aMessage(body, gzip)],
    ['broken_gzip', aMessage(gzipSync(body).subarray(0, -9), gzip)],
    ['broken_gzip', aMessage(Buffer.alloc(0), gzip)],
    // It ends with the length of its last member alone.
    ['broken_gzip', aMessage(Buffer.concat([gzipSync(Buffer.alloc(100_000, ' ')), gzipSync(body)]), gzip)],
    ['too_large', aMessage(gzipSync(Buffer.alloc(200_000_000)), gzip)],
    ['not_json', aMessage(gzipSync(Buffer.alloc(0)), gzip)],
  ])('refuses as %s', (reason, message) => {
    expect(read(message)).toMatchObject({ kind: 'invalid', reason });
  });

  test('takes exactly the limit and refuses one byte more, compressed or not', () => {
    const padded = (length: number) => Buffer.concat([body, Buffer.alloc(length - body.length, ' ')]);
    expect(read(aMessage(padded(1_048_576))).kind).toBe('event');
    expect(read(aMessage(gzipSync(padded(1_048_576)), gzip)).kind).toBe('event');
    expect(read(aMessage(padded(1_048_577)))).toMatchObject({ reason: 'too_large' });
    expect(read(aMessage(gzipSync(padded(1_048_577)), gzip))).toMatchObject({ reason: 'too_large' });
  });
});

describe('readEvent of another encoding than UTF-8', () => {
  const text = JSON.stringify(anEnvelope({ error_message: 'zażółć 🚚' }));
  const inUtf16 = Buffer.from(`\uFEFF${text}`, 'utf16le');

  test.each([
    ['a mark', Buffer.from(`\uFEFF${text}`), {}],
    ['UTF-16', inUtf16, { contentType: 'application/json; charset=UTF-16' }],
    ['UTF-16 by another label', inUtf16, { contentType: 'application/json; charset=utf-8' }],
    ['a compressed mark', gzipSync(`\uFEFF${text}`), { contentEncoding: 'gzip' }],
    ['compressed UTF-16', gzipSync(inUtf16), { contentEncoding: 'gzip' }],
  ])('reads the same event from %s', (_what, body, what) => {
    const { fingerprint, ...event } = eventOf(aMessage(body, what));
    const { fingerprint: _own, ...same } = eventOf(aMessage(Buffer.from(text)));
    expect(event).toEqual(same);
    expect(fingerprint).toBe(createHash('sha256').update(body).digest('hex'));
  });

  test.each([
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0]), 'the body is in UTF-32: write it in UTF-8'],
    ['Latin 1', Buffer.from('{"a":"é"}', 'latin1'), 'byte 7 is not UTF-8: write the JSON in UTF-8'],
  ])('refuses %s, and says what to write', (_what, body, detail) => {
    expect(read(aMessage(body))).toEqual({ kind: 'invalid', reason: 'not_utf8', detail });
  });

  test('counts bytes as they are in UTF-8', () => {
    const wide = anEnvelope({ error_message: '漢'.repeat(400_000) });
    expect(read(aMessage(Buffer.from(JSON.stringify(wide), 'utf16le')))).toMatchObject({ reason: 'too_large' });
  });
});

describe('readEvent of a CloudEvent', () => {
  test('reads the same event as from an envelope', () => {
    const { fingerprint: _one, ...fromCloud } = eventOf(aMessage(aCloudEvent(), { ...asCloudEvent, messageId: GUID }));
    const { fingerprint: _other, ...fromEnvelope } = eventOf(aMessage(anEnvelope()));
    expect(fromCloud).toEqual(fromEnvelope);
  });

  test('takes ignored and error_message from data, and counts what it does not know', () => {
    const data = { ...aCloudEvent().data, ignored: true, error_message: 'late', note: 1 };
    const message = aMessage(
      aCloudEvent({ type: 'shipper.order.picked_up', data, datacontenttype: 'application/json', extension: 1 }),
      asCloudEvent,
    );
    const event = eventOf({ ...message, routingKey: 'shipper.order.picked_up' });
    expect([event.action.name, event.errorMessage, event.unknownMembers.places]).toEqual([
      'order.picked_up.ignored',
      'late',
      ['/extension', '/data/note'],
    ]);
  });

  test.each([
    [{ specversion: '0.3' }, '/specversion: must be "1.0"'],
    [{ id: undefined }, '/id: is missing'],
    [{ time: 'now' }, expect.stringMatching(/^\/time: must be an RFC 3339/)],
    [{ type: 7 }, '/type: must be a text, <interface>.<action>'],
    [{ type: 'order' }, '/type: there is no action "order" on the interface ""'],
    [{ data: undefined }, '/data: must be an object that holds parties and payload'],
    [{ data: { ...aCloudEvent().data, parties: {} } }, '/data/parties/shipper: is missing'],
    [{ data: { ...aCloudEvent().data, payload: {} } }, '/data/payload/order_guid: is missing'],
    [{ data: { ...aCloudEvent().data, ignored: true } }, expect.stringMatching(/^\/data\/ignored: /)],
  ])('names the place in the CloudEvent: %j', (what, detail) => {
    expect(read(aMessage(aCloudEvent(what), asCloudEvent))).toMatchObject({ kind: 'invalid', detail });
  });

  test.each([
    ['a text of JSON', { data: JSON.stringify(aCloudEvent().data) }],
    ['JSON in base64', { data: undefined, data_base64: base64(JSON.stringify(aCloudEvent().data)) }],
    ['JSON with a mark in base64', { data: null, data_base64: base64(`\uFEFF${JSON.stringify(aCloudEvent().data)}`) }],
    ['an object of another type', { datacontenttype: 'text/plain' }],
    ['a text of JSON of another type', { data: JSON.stringify(aCloudEvent().data), datacontenttype: 'text/plain' }],
  ])('reads the same event from data that is %s', (_what, what) => {
    const { fingerprint: _one, ...event } = eventOf(aMessage(aCloudEvent(what), asCloudEvent));
    const { fingerprint: _other, ...same } = eventOf(aMessage(anEnvelope()));
    expect(event).toEqual(same);
  });

  test('keeps digits of data within a text, and looks at its numbers as at any', () => {
    const order = (id: string) => {
      const data = `{"parties":{"carrier":"${SHIPPER}"},"payload":{"id":${id},"status":"new"}}`;
      const type = 'carrier.order.created';
      return aMessage(aCloudEvent({ type, data }), { ...asCloudEvent, routingKey: type });
    };
    expect(writeJson(eventOf(order('9007199254740993')).payload)).toBe('{"id":9007199254740993,"status":"new"}');
    expect(read(order('7.50'))).toMatchObject({ detail: '/data/payload/id: must be integer' });
  });

  test.each([
    [{ data: 'x' }, 'not_json', /^\/data: must be an object .*a value is expected$/],
    [{ data: '[1]' }, 'envelope_invalid', /^\/data: must be an object that holds parties and payload$/],
    [{ data: '{"a":1,"a":1}' }, 'duplicate_key', /^\/data: .* twice$/],
    [{ data: '['.repeat(32) }, 'too_deep', /^\/data: /],
    [{ data: undefined, data_base64: '?' }, 'envelope_invalid', /^\/data_base64: must be base64 of JSON$/],
    [{ data: undefined, data_base64: 7 }, 'envelope_invalid', /^\/data_base64: must be base64 of JSON$/],
    [{ data_base64: base64('{}') }, 'envelope_invalid', /^\/data_base64: is there beside data: publish one of them$/],
    [{ data: undefined, data_base64: base64('{}') }, 'envelope_invalid', /^\/data_base64\/parties: is missing$/],
    [
      { data: '<order/>', datacontenttype: 'application/xml' },
      'envelope_invalid',
      /^\/datacontenttype: is "application\/xml", and so is the data: publish data in JSON$/,
    ],
    [
      { data: undefined, data_base64: base64('\xFF'), datacontenttype: 'application/x-protobuf' },
      'envelope_invalid',
      /^\/datacontenttype: is "application\/x-protobuf"/,
    ],
  ])('says what is wrong with data within a text: %j', (what, reason, detail) => {
    expect(read(aMessage(aCloudEvent(what), asCloudEvent))).toMatchObject({
      reason,
      detail: expect.stringMatching(detail),
    });
  });

  test.each([
    ['application/cloudevents-batch+json', [aCloudEvent()], /each event in a message of its own/],
    ['Application/CloudEvents+Avro; charset=utf-8', Buffer.from([0xff]), /publish it in JSON/],
    ['application/cloudevents+xml', Buffer.from('<event/>'), /publish it in JSON/],
  ])('says what to publish in place of %s', (contentType, body, detail) => {
    expect(read(aMessage(body, { contentType }))).toMatchObject({
      reason: 'envelope_invalid',
      detail: expect.stringMatching(detail),
    });
  });

  test('says how to publish it, where its content_type is that of another event', () => {
    const detail = '/specversion: is of a CloudEvent: publish it with content_type application/cloudevents+json';
    const contentType = 'application/json';
    expect(read(aMessage(aCloudEvent(), { contentType }))).toMatchObject({ reason: 'envelope_invalid', detail });
    expect(eventOf(aMessage(anEnvelope({ specversion: '1.0' }), { contentType })).guid).toBe(GUID);
  });
});
