import { describe, expect, test } from '@jest/globals';
import { clientAddressBy } from './http-app.ts';

const PROXY = '10.0.0.1';

/** Returns the client address that a service which trusts these networks finds for a request from there with these headers. */
function located(forwarded: string[], { from = PROXY, trusted = ['10.0.0.0/8', 'fd00::/8'] } = {}) {
  const headersDistinct = forwarded.length === 0 ? {} : { 'x-forwarded-for': forwarded };
  return clientAddressBy(trusted)({ headersDistinct, socket: { remoteAddress: from } });
}

describe('the address of a client', () => {
  test.each<[forwarded: string[], address: string]>([
    [['192.0.2.1:51234'], '192.0.2.1'],
    [['"[2001:db8::1]:51234"'], '2001:db8::1'],
    [['192.0.2.1:51234, 10.0.0.7:443'], '192.0.2.1'],
    [['192.0.2.1:51234, [::ffff:10.0.0.7]:443, [fd00::7]:443'], '192.0.2.1'],
    [['192.0.2.1:51234', '10.0.0.7:443'], '192.0.2.1'],
    [['192.0.2.1,, 10.0.0.7 ,'], '192.0.2.1'],
    [['10.0.0.9:1,10.0.0.7:1'], '10.0.0.9'],
  ])('behind proxies that forward %j is %s', (forwarded, address) => {
    expect(located(forwarded)).toBe(address);
    expect(located(forwarded, { from: `::ffff:${PROXY}` })).toBe(address);
  });

  test('is the nearest that no proxy of ours has, whatever a client wrote before it', () => {
    expect(located(['203.0.113.9, 192.0.2.1:51234, 10.0.0.7'])).toBe('192.0.2.1');
  });

  test.each<[forwarded: string[], address: string]>([
    [[], PROXY],
    [['unknown'], PROXY],
    [['203.0.113.9, unknown'], PROXY],
    [['203.0.113.9, _hidden:1, 10.0.0.7:443'], '10.0.0.7'],
    [['', ' , '], PROXY],
  ])('is that of the nearest proxy where %j names none', (forwarded, address) => {
    expect(located(forwarded)).toBe(address);
  });

  test('is that of the connection where that is no proxy', () => {
    expect(located(['203.0.113.9'], { from: '192.0.2.1' })).toBe('192.0.2.1');
    expect(located(['203.0.113.9'], { from: '::ffff:192.0.2.1' })).toBe('192.0.2.1');
    expect(located(['203.0.113.9'], { trusted: [] })).toBe(PROXY);
  });
});
