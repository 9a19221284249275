import { readNetworks } from '@waybell/runtime/networks';
import type { AttemptRequest } from '../request/attempt.ts';
import { openEndpoints, type EndpointOptions } from '../request/call-endpoint.ts';
import { attempting } from './attempting.ts';
import { aDelivery } from './delivery.ts';

/** No limit is what ends these attempts, however long the machine stands still. */
const FAR_MS = 60_000;

/** Endpoints on this machine alone, with all limits far away, and a `call` of one that is waited for. */
export function openCaller(options: Partial<EndpointOptions> = {}) {
  const endpoints = openEndpoints({
    limits: { shipper: { handoverMs: FAR_MS, responseMs: 2 * FAR_MS }, carrier: { responseMs: FAR_MS } },
    networks: readNetworks(['127.0.0.0/8', '::1/128']),
    connectTimeoutMs: FAR_MS,
    keepAliveMs: 2 * FAR_MS,
    userAgent: 'Waybell',
    ...options,
  });
  const attempt = attempting(endpoints.callEndpoint);
  return {
    ...endpoints,
    call: (callbackUrl: string, what: Partial<AttemptRequest> = {}) =>
      attempt({ delivery: aDelivery(), callbackUrl, verificationToken: '', signingSecrets: [], ...what }),
  };
}
