import { signatures, type Signed } from './signature.ts';

/** One request: the signed parts, and the other parts of its headers. */
export type CallbackRequest = Signed & {
  verificationToken: string;
  /** The secrets that sign it, `whsec_…`; empty: it is not signed. */
  signingSecrets: readonly string[];
  /** 1 for the first. */
  attempt: number;
  isTest: boolean;
};

export type CallbackHeaders = Record<string, string> & {
  'X-Service-Verification-Token': string;
  'webhook-signature'?: string;
  traceparent?: string;
};

/**
 * Returns the headers of a callback, for the deliverer and the test helper alike: spelled as both specifications and Standard Webhooks
 * write them, as some gateways look for.
 */
export function callbackHeaders(request: CallbackRequest): CallbackHeaders {
  const { id, timestampS, verificationToken, signingSecrets, attempt, isTest } = request;
  const headers: CallbackHeaders = {
    'Content-Type': 'application/json; charset=utf-8',
    'Accept-Encoding': 'identity',
    'X-Service-Verification-Token': verificationToken,
    'X-Webhook-Attempt': String(attempt),
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
  };
  if (isTest) headers['X-Webhook-Test'] = 'true';
  if (signingSecrets.length > 0) headers['webhook-signature'] = signatures(signingSecrets, request);
  return headers;
}
