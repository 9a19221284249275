import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { EventMessage } from '@waybell/events/read-event';
import { guidOfBytes, nearestKey, readRejectedEvent } from './read-rejected-event.ts';

const EVENT = '0b4f2f4e-5d0a-4a35-9a3c-1f6c7b1d8e01';
const ORDER = '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11';
const ACCOUNT = '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51';
const KEY = 'carrier.order.created';

const read = (body: unknown, what: Partial<EventMessage> = {}) => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return readRejectedEvent({ routingKey: KEY, body: bytes, ...what }, 1_000);
};
const order = { guid: EVENT, interface: 'carrier', action: 'order.created', payload: { order_guid: ORDER } };

describe('readRejectedEvent', () => {
  test('names what the event is about, whoever wrote its JSON and however, broken or not', () => {
    const escaped = ORDER.replaceAll('-', String.raw`\u002D`);
    for (const spelled of [ORDER, ORDER.toUpperCase(), escaped])
      for (const end of ['', '}'])
        expect(read(`{"order_guid":"${spelled}"${end}`, { messageId: EVENT })).toMatchObject({
          guid: EVENT,
          keys: [{ kind: 'guid', key: ORDER }],
        });
  });

  test.each([
    ['a member', { ...order }],
    ['one in upper case', { GUID: EVENT.toUpperCase() }],
    ['one with braces', { guid: `{${EVENT}}` }],
    ['a URN between spaces', { guid: ` urn:uuid:${EVENT} ` }],
    ['the id of a CloudEvent', { specversion: '1.0', id: EVENT }],
    ['a member message_id', { message_id: EVENT }],
    ['broken JSON', `{ "guid" : "${EVENT}", "payload": {`],
    ['a list of events', [order]],
    ['JSON within a string', JSON.stringify(JSON.stringify(order))],
    ['a broken CloudEvent', `{"specversion":"1.0","id":"${EVENT}",`],
    ['UTF-16', Buffer.from(JSON.stringify(order), 'utf16le')],
    ['a body that is too large', `{"guid":"${EVENT}","note":"${'x'.repeat(2_000)}`],
  ])('finds the guid in %s', (_what, body) => {
    expect(read(body)).toMatchObject({ guid: EVENT });
  });

  test('takes no guid of what the event is about for that of the event', () => {
    expect(read({ payload: { guid: ORDER } })).toMatchObject({ guid: undefined, keys: [{ kind: 'guid', key: ORDER }] });
  });

  test('names the message id as well, where that is another', () => {
    expect(read(order, { messageId: ACCOUNT })).toMatchObject({
      guid: EVENT,
      keys: [
        { kind: 'message_id', key: ACCOUNT },
        { kind: 'order_guid', key: ORDER },
      ],
    });
  });

  test('names what people ask by, in either form of the envelope, and nothing that could not be stored', () => {
    const payload = { id: 4711, vehicles: [{ vin: ' 1FTF ' }], number: 'a\0', purchase_order_number: '\uD800' };
    const keys = [
      { kind: 'order_id', key: '4711' },
      { kind: 'vin', key: '1FTF' },
    ];
    const data = JSON.stringify({ payload });
    const base64 = Buffer.from(data).toString('base64');
    for (const body of [{ payload }, { data: { payload } }, { data }, { data_base64: base64 }])
      expect(read(body)).toMatchObject({ keys });
  });

  test('reads what is nested deeper than any stack reaches', () => {
    const deep = `{"guid":"${EVENT}","payload":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
    const message = { routingKey: KEY, body: Buffer.from(deep) };
    expect(readRejectedEvent(message, 1_000_000)).toMatchObject({ guid: EVENT, keys: [] });
  });

  test('names the accounts, in either form of the envelope', () => {
    const parties = { carrier: ACCOUNT.toUpperCase(), shipper: 'x' };
    const base64 = Buffer.from(JSON.stringify({ parties })).toString('base64');
    for (const body of [{ parties }, { data: { parties } }, { data_base64: base64 }])
      expect(read(body)).toMatchObject({ receivers: [ACCOUNT], keys: [] });
  });

  test.each([
    ['the routing key', KEY, {}],
    ['one in another case', 'Carrier.order.created', {}],
    ['one with a space at its end', `${KEY} `, {}],
    ['the body', 'orders', { ...order }],
    ['a body in another case', 'orders', { INTERFACE: ' Carrier', action: 'order.created ' }],
    ['a body that is broken', 'orders', '{"interface":"carrier","action":"order.created",'],
    ['the type of a CloudEvent', '', { specversion: '1.0', type: KEY }],
    ['the body, where the key names none that there is', 'carrier.order.createt', { ...order }],
  ])('tells the action by %s', (_what, routingKey, body) => {
    expect(read(body, { routingKey })).toMatchObject({ interface: 'carrier', action: 'order.created' });
  });

  test('says so where the interface cannot be told, and keeps what upstream wrote, fit for a table', () => {
    const routingKey = `nobody.\0\uD800${'x'.repeat(300)}`;
    const { interface: interfaceName, action } = read('', { routingKey });
    expect([interfaceName, action]).toEqual([undefined, expect.stringMatching(/^nobody\.\\u0000\\ud800x{191}…$/)]);
  });

  test('makes nothing of bytes that say nothing', () => {
    const nothing = { guid: undefined, interface: undefined, keys: [], receivers: [] };
    for (const body of [Buffer.from([0xff, 0x00]), gzipSync('x').subarray(0, 12), Buffer.from('null')])
      expect(read(body, { routingKey: 'x', contentEncoding: 'gzip' })).toMatchObject(nothing);
  });
});

describe('nearestKey', () => {
  test.each([
    ['Carrier.order.created', {}, KEY],
    ['carrier.order.createt', {}, KEY],
    ['orders', order, KEY],
    ['shipper.vehicle.location_report', {}, 'shipper.vehicle.location_reported'],
  ])('of %j is that of the body, or the most alike', (routingKey, body, nearest) => {
    expect(nearestKey(read(body, { routingKey }))).toBe(nearest);
  });
});

test('a guid made of bytes is a guid, the same for the same bytes and another for others', () => {
  const made = guidOfBytes({ body: Buffer.from('x'), routingKey: KEY });
  expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(guidOfBytes({ body: Buffer.from('x'), routingKey: KEY })).toBe(made);
  expect(guidOfBytes({ body: Buffer.from('y'), routingKey: KEY })).not.toBe(made);
  expect(guidOfBytes({ body: Buffer.from('x'), routingKey: `${KEY}s` })).not.toBe(made);
});
