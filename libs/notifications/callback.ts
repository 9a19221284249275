/** The request beside its body: headers and signatures; and its URL as it is shown, without secrets. */
import { createHmac } from 'node:crypto';

/** One request: the signed parts, and the other parts of its headers. */
type CallbackRequest = Signed & {
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

/** The signed content: the id of the message, the start of this attempt in seconds since 1970, and the bytes of the body. */
export type Signed = { id: string; timestampS: number; body: Buffer };

const PREFIX = 'whsec_';

/**
 * The header `webhook-signature` of Standard Webhooks 1.0: for each secret, `v1,` and the HMAC-SHA256 of
 * `<id>.<timestamp>.<body>` in base64, with blanks between them.
 */
export function signatures(secrets: readonly string[], { id, timestampS, body }: Signed): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}

/**
 * Formats a callback URL for people: without its user, its fragment and all values of its query, including those without a name,
 * because they may be secret.
 */
export function shownUrl(url: URL): string {
  // Most have none of these: no new string is made for them.
  if (!/[?#@]/.test(url.href)) return url.href;
  const { origin, pathname, search } = url;
  if (search === '') return origin + pathname;
  return `${origin}${pathname}?${search.slice(1).split('&').map(withoutValue).join('&')}`;
}

function withoutValue(parameter: string): string {
  return `${parameter.slice(0, parameter.indexOf('=') + 1)}***`;
}
