import { describe, expect, test } from '@jest/globals';
import { JsonNumber } from '@waybell/events/json';
import { parseNotification } from './parse-notification.ts';
import { stringify } from './stringify.ts';

const body =
  '{"action":"order.created","guid":"a","occurred_at":"x","data":{"id":12345678901234567890,"price":0.10000000000000000000001,"status":"Łódź"}}';

describe('stringify', () => {
  test('writes what was received, every digit of it', () => {
    const parsed = parseNotification('carrier', body);
    expect(parsed.kind === 'notification' && stringify(parsed.notification)).toBe(body);
  });

  test('throws for what JSON does not have, and says where', () => {
    expect(() => stringify({ data: [NaN] })).toThrow(new TypeError('/data/0: must be a finite number, not NaN'));
  });
});

test('JSON.stringify writes a JsonNumber as a text where JavaScript has no raw numbers yet', () => {
  const { rawJSON } = JSON;
  try {
    delete JSON.rawJSON;
    expect(JSON.stringify([new JsonNumber('0.10')])).toBe('["0.10"]');
  } finally {
    Object.assign(JSON, { rawJSON });
  }
  expect(JSON.stringify([new JsonNumber('0.10')])).toBe('[0.10]');
});
