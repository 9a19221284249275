import { Agent as HttpAgent } from 'node:http';
import axios, { Axios } from 'axios';
import { Agent } from 'undici';
import { openEndpoints } from '@waybell/deliverer/request/call-endpoint';
import { throughUndici } from '@waybell/deliverer/request/exchange';
import { systemClock } from '@waybell/runtime/clock';
import type { ResolveHost } from '@waybell/runtime/names/resolve-host';
import { readNetworks } from '@waybell/runtime/networks';
import { accountGuid } from '../lib/workload.ts';

/** Ways to POST a notification, from the barest to the deliverer's own. */
export const HTTP_CLIENTS = ['undici', 'axios with our adapter', 'axios as it comes', 'deliverer'] as const;
export type HttpClientName = (typeof HTTP_CLIENTS)[number];

/** Resolves with the status. */
export type Post = (url: string, request: { guid: string; body: Buffer; attempt?: number }) => Promise<number>;

const RESPONSE_LIMIT_MS = 60_000;
const KEEP_ALIVE_MS = 15_000;

const makers: Record<HttpClientName, (keepAliveMs: number) => Post> = {
  undici(keepAliveMs) {
    const agent = new Agent({ keepAliveTimeout: keepAliveMs });
    return async (url, { guid, body, attempt = 1 }) => {
      const { origin, pathname } = new URL(url);
      const answer = await agent.request({
        origin,
        path: pathname,
        method: 'POST',
        headers: headersOf(guid, attempt),
        body,
        headersTimeout: RESPONSE_LIMIT_MS,
      });
      await answer.body.dump();
      return answer.statusCode;
    };
  },
  'axios with our adapter'(keepAliveMs) {
    const limits = { responseMs: RESPONSE_LIMIT_MS, bodyMs: 1_000, bodyBytes: 65_536, keptBytes: 4_096 };
    const agent = new Agent({ keepAliveTimeout: keepAliveMs });
    const http = new Axios({ method: 'post' });
    return async (url, { guid, body, attempt = 1 }) => {
      const adapter = throughUndici(agent, {
        url: URL.parse(url),
        headers: headersOf(guid, attempt),
        body,
        limits,
        trace: { startedAt: performance.now() },
        clock: systemClock,
      });
      const { status } = await http.request({ url, adapter });
      return status;
    };
  },
  'axios as it comes'() {
    const http = axios.create({ timeout: RESPONSE_LIMIT_MS, httpAgent: new HttpAgent({ keepAlive: true }) });
    return async (url, { guid, body, attempt = 1 }) => {
      const { status } = await http.post(url, body, { headers: headersOf(guid, attempt) });
      return status;
    };
  },
  deliverer: (keepAliveMs) => delivererClient({ keepAliveMs }),
};

/** A client with connections of its own, kept for `keepAliveMs` while idle. */
export function httpClient(name: HttpClientName, keepAliveMs = KEEP_ALIVE_MS): Post {
  return makers[name](keepAliveMs);
}

function headersOf(guid: string, attempt: number): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'webhook-id': guid,
    'x-webhook-attempt': String(attempt),
    'x-service-verification-token': 'a'.repeat(43),
  };
}

/** The call path of the deliverer, whole: resolves with 0 where there was no answer. */
export function delivererClient(options: { keepAliveMs: number; resolveHost?: ResolveHost }): Post {
  const { callEndpoint } = openEndpoints({
    ...options,
    networks: readNetworks(['127.0.0.0/8']),
    connectTimeoutMs: 10_000,
    userAgent: 'Waybell',
    limits: {
      shipper: { handoverMs: 10_000, responseMs: RESPONSE_LIMIT_MS },
      carrier: { responseMs: 3_000 },
    },
  });
  const nowMs = Date.now();
  const about = { interface: 'shipper', action: 'order.paid', subscription: accountGuid(1), generation: 1 } as const;
  return (url, { guid, body, attempt = 1 }) => {
    const delivery = { ...about, guid, event: guid, attempt, createdAt: nowMs, beganAt: nowMs, body };
    const request = { delivery, callbackUrl: url, verificationToken: 'a'.repeat(43), signingSecrets: [] };
    return new Promise((resolve, reject) => {
      callEndpoint(request, (ended) => ('kind' in ended ? reject(ended.error) : resolve(ended.status ?? 0)));
    });
  };
}
