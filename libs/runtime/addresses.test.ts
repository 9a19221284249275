import { describe, expect, test } from '@jest/globals';
import { addressesIn, placeOf } from './addresses.ts';

test.each([
  ['redis://redis', ['redis://redis']],
  ['amqp://u:p,q@a:5671, amqp://u:p@b', ['amqp://u:p,q@a:5671', 'amqp://u:p@b']],
  ['postgres://u:p,q@a:1,b/db?x=1,2', ['postgres://u:p,q@a:1/db?x=1,2', 'postgres://u:p,q@b/db?x=1,2']],
  ['redis+sentinel://[::1]:1,[::2]/m', ['redis+sentinel://[::1]:1/m', 'redis+sentinel://[::2]/m']],
  ['redis+sentinel://a/m,redis+sentinel://b/m', ['redis+sentinel://a/m', 'redis+sentinel://b/m']],
  ['nonsense', ['nonsense']],
])('%s names each of its servers, by a whole address', (text, addresses) => {
  expect(addressesIn(text)).toEqual(addresses);
});

describe('placeOf', () => {
  test('names the host and the port, and no password', () => {
    expect(placeOf('amqps://user:secret@rabbitmq:5671/vhost')).toBe('rabbitmq:5671');
    expect(placeOf('nonsense')).toBeUndefined();
  });
});
