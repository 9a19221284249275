import { describe, expect, test } from '@jest/globals';
import { recordRejectedEvent } from './rejected-event.ts';

const EVENT = '0b4f2f4e-5d0a-4a35-9a3c-1f6c7b1d8e01';
const ORDER = '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11';

const record = recordRejectedEvent({ maxBytes: 1_000 }, () => 7);
const rejected = (text: string) =>
  record(
    { routingKey: 'carrier.order.created', body: Buffer.from(text), messageId: EVENT },
    { reason: 'not_json', detail: 'it ends too soon' },
  );

describe('recordRejectedEvent', () => {
  test('names what the event is about, whoever wrote its JSON and however, broken or not', () => {
    const escaped = ORDER.replaceAll('-', String.raw`\u002D`);
    for (const order of [ORDER, ORDER.toUpperCase(), escaped])
      for (const end of ['', '}']) {
        const text = `{"order_guid":"${order}"${end}`;
        expect(rejected(text)).toMatchObject({ event: EVENT, at: 7, keys: [{ kind: 'guid', key: ORDER }] });
      }
  });

  test('puts nothing on record whose interface or guid cannot be told', () => {
    const message = { body: Buffer.from('{'), messageId: EVENT };
    const rejection = { reason: 'not_json', detail: '' };
    expect(record({ ...message, routingKey: 'nobody.order.created' }, rejection)).toBeUndefined();
    expect(record({ ...message, routingKey: 'carrier.order.created', messageId: 'x' }, rejection)).toBeUndefined();
  });
});
