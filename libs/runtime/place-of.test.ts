import { describe, expect, test } from '@jest/globals';
import { placeOf } from './addresses.ts';

describe('placeOf', () => {
  test('names the host and the port, and no password', () => {
    expect(placeOf('amqps://user:secret@rabbitmq:5671/vhost')).toBe('rabbitmq:5671');
    expect(placeOf('nonsense')).toBeUndefined();
  });
});
