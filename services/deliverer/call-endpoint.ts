import axios from 'axios';
import { Agent } from 'undici';
import type { Delivery } from '@waybell/line/delivery';
import type { Answer, InterfaceName } from '@waybell/line/outcomes';
import type { AllowList } from '@waybell/runtime/forbidden-address';
import { reasonOfError, reasonOfStatus } from './failure-reason.ts';
import { safeConnector } from './safe-address.ts';
import { skippingContinue } from './skip-continue.ts';
import { undiciAdapter, type RequestLimits } from './undici-adapter.ts';

export type Call = { delivery: Delivery; callbackUrl: string; verificationToken: string };

/** One HTTP request; every way it can end is an answer, none an error. */
export type CallEndpoint = (call: Call) => Promise<Answer & { isDelivered: boolean }>;

export type TimeLimits = Record<InterfaceName, Pick<RequestLimits, 'handoverMs' | 'responseMs'>>;

export type EndpointOptions = {
  limits: TimeLimits;
  allowed: AllowList;
  connectTimeoutMs: number;
  /** Idle connections are closed after this long, so that a changed address is looked up and checked again. */
  keepAliveMs: number;
  userAgent: string;
};

const BODY_LIMITS = { bodyMs: 1_000, bodyBytes: 64 * 1024, keptBytes: 4 * 1024 };

/** Success is a 2xx status in time (both specifications, Errors); redirects are failures and never followed. */
export function openEndpoints(options: EndpointOptions): { callEndpoint: CallEndpoint } & AsyncDisposable {
  const agent = new Agent({
    connect: skippingContinue(safeConnector(options)),
    keepAliveTimeout: options.keepAliveMs,
    keepAliveMaxTimeout: options.keepAliveMs,
    pipelining: 1,
    // The limits are the adapter's: these two watch for idleness, which a slow drip would never show.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const http = axios.create({
    adapter: undiciAdapter(agent, limitsOf),
    transformRequest: [(bytes: unknown) => bytes],
    transformResponse: [(text: unknown) => text],
    validateStatus: () => true,
    maxRedirects: 0,
    proxy: false,
  });
  return {
    callEndpoint: async ({ delivery, callbackUrl, verificationToken }) => {
      const startedAt = performance.now();
      const durationMs = () => Math.round(performance.now() - startedAt);
      const headers = requestHeaders(delivery, verificationToken, options.userAgent);
      const limits = { ...BODY_LIMITS, ...options.limits[delivery.interface] };
      try {
        const { status } = await http.post(callbackUrl, delivery.body, { headers, limits } as object);
        if (status >= 200 && status < 300) return { isDelivered: true, status, durationMs: durationMs() };
        return { isDelivered: false, status, reason: reasonOfStatus(status), durationMs: durationMs() };
      } catch (error) {
        return { isDelivered: false, reason: reasonOfError(error), durationMs: durationMs() };
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

// axios hands what it does not know through to the adapter.
function limitsOf(config: object): RequestLimits {
  return (config as { limits: RequestLimits }).limits;
}

function requestHeaders(delivery: Delivery, token: string, userAgent: string): Record<string, string | false> {
  return {
    // axios would ask for JSON: any answer is as good.
    accept: false,
    'content-type': 'application/json; charset=utf-8',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
    'x-service-verification-token': token,
    'x-webhook-attempt': String(delivery.attempt),
    'webhook-id': delivery.guid,
    ...(delivery.traceparent === undefined ? {} : { traceparent: delivery.traceparent }),
  };
}
