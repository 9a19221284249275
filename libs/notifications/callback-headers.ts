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
  'x-service-verification-token': string;
  'webhook-signature'?: string;
  traceparent?: string;
};

/** Returns the headers of a callback, for the deliverer and the test helper alike. */
export function callbackHeaders(request: CallbackRequest): CallbackHeaders {
  const { id, timestampS, verificationToken, signingSecrets, attempt, isTest } = request;
  const headers: CallbackHeaders = {
    'content-type': 'application/json; charset=utf-8',
    'accept-encoding': 'identity',
    'x-service-verification-token': verificationToken,
    'x-webhook-attempt': String(attempt),
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
  };
  if (isTest) headers['x-webhook-test'] = 'true';
  if (signingSecrets.length > 0) headers['webhook-signature'] = signatures(signingSecrets, request);
  return headers;
}
