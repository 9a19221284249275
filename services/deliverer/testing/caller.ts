import { readNetworks } from '@waybell/runtime/networks';
import { PATIENT_MS } from '@waybell/runtime/testing/patience';
import type { AttemptRequest } from '../request/attempt.ts';
import { openEndpoints, type EndpointOptions } from '../request/call-endpoint.ts';
import { attempting } from './attempting.ts';
import { aDelivery } from './delivery.ts';

/** Endpoints on this machine alone, with all limits far away, and a `call` of one that is waited for. */
export function openCaller(options: Partial<EndpointOptions> = {}) {
  const endpoints = openEndpoints({
    limits: { shipper: { handoverMs: PATIENT_MS, responseMs: 2 * PATIENT_MS }, carrier: { responseMs: PATIENT_MS } },
    networks: readNetworks(['127.0.0.0/8', '::1/128']),
    connectTimeoutMs: PATIENT_MS,
    keepAliveMs: 2 * PATIENT_MS,
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
