import { openEndpoints } from '@waybell/deliverer/request/call-endpoint';
import { attempting } from '@waybell/deliverer/testing/attempting';
import { aDelivery } from '@waybell/deliverer/testing/delivery';
import { readNetworks } from '@waybell/runtime/networks';

/** A program of its own, for Node's own settings: makes one attempt at the address that it is given, and prints how it ended. */

const [, , callbackUrl = ''] = process.argv;
const LIMIT_MS = 60_000;

await using endpoints = openEndpoints({
  limits: { shipper: { responseMs: LIMIT_MS }, carrier: { responseMs: LIMIT_MS } },
  networks: readNetworks(['127.0.0.0/8', '::1/128']),
  connectTimeoutMs: LIMIT_MS,
  keepAliveMs: 2 * LIMIT_MS,
  userAgent: 'Waybell',
});
const { reason = 'delivered' } = await attempting(endpoints.callEndpoint)({
  delivery: aDelivery(),
  callbackUrl,
  verificationToken: '',
  signingSecrets: [],
});
console.log(reason);
