import { isIPv4 } from 'node:net';
import { expect, test } from '@jest/globals';
import { isOwnFault, type OwnRoutes } from './egress.ts';

/** A machine without IPv6, whose routes are gone. */
const routes: OwnRoutes = { reached: () => undefined, isLost: async (address) => isIPv4(address), hadAny: isIPv4 };

const failed = (code: string, address: string) => Object.assign(new Error(code), { code, address });
const [ONE, OTHER, SIX] = ['192.0.2.7', '192.0.2.8', '2001:db8::7'];

test.each<[string, Error[], boolean]>([
  ['no route to the one that there could be', [failed('ENETUNREACH', ONE), failed('ENETUNREACH', SIX)], true],
  ['no port for it', [failed('EADDRNOTAVAIL', ONE), failed('EADDRNOTAVAIL', SIX)], true],
  ['no route to one of two', [failed('ENETUNREACH', ONE), failed('ECONNREFUSED', OTHER)], false],
  ['nobody at the one, no way ever to the other', [failed('ECONNREFUSED', ONE), failed('ENETUNREACH', SIX)], false],
  ['no way ever to any', [failed('ENETUNREACH', SIX), failed('EADDRNOTAVAIL', SIX)], false],
])('of a host with several addresses: %s', async (_, errors, isOwn) => {
  expect(await isOwnFault(new AggregateError(errors), routes)).toBe(isOwn);
});
