import type { FailureReason } from '@waybell/line/reasons';
import { codeOf, withCauses } from '@waybell/runtime/error-codes';

/** Reasons (`libs/line/reasons.ts` says what they mean) come from statuses and error codes, never from the text of a message. */
export function reasonOfStatus(status: number): FailureReason {
  if (status >= 300 && status < 400) return 'redirect';
  if (status >= 400 && status < 500) return 'http_4xx';
  if (status >= 500 && status < 600) return 'http_5xx';
  return 'http_other';
}

const BY_CODE: Record<string, FailureReason> = {
  BLOCKED_ADDRESS: 'blocked_address',
  CONNECT_TIMEOUT: 'connect_timeout',
  HANDOVER_TIMEOUT: 'handover_timeout',
  RESPONSE_TIMEOUT: 'response_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  UNUSABLE_CERTIFICATE: 'credentials_unavailable',
  UNRESOLVED_HOST: 'dns',
  NAME_SERVERS_AWAY: 'dns',
  ECONNREFUSED: 'connect_refused',
  TUNNEL_REFUSED: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EAFNOSUPPORT: 'unreachable',
  ENOBUFS: 'unreachable',
  ENOMEM: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_INFO: 'reset',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_name',
  HOSTNAME_MISMATCH: 'tls_name',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  INVALID_CA: 'tls_untrusted',
  INVALID_PURPOSE: 'tls_untrusted',
  PATH_LENGTH_EXCEEDED: 'tls_untrusted',
  EPROTO: 'tls_failed',
  INVALID_RESPONSE: 'invalid_response',
};

const BY_PREFIX: [string, FailureReason][] = [
  ['HPE_', 'invalid_response'],
  ['UNABLE_TO_', 'tls_untrusted'],
  ['CERT_', 'tls_untrusted'],
  ['ERR_SSL_', 'tls_failed'],
  ['ERR_TLS_', 'tls_failed'],
];

/**
 * Alerts about a client's certificate (RFC 8446, 6.2). Before the last part OpenSSL names a version, or several, not in all of its
 * own versions alike.
 */
const ABOUT_CERTIFICATE =
  /^ERR_SSL_.*_ALERT_(?:CERTIFICATE_(?:REQUIRED|EXPIRED|REVOKED|UNKNOWN)|(?:BAD|UNSUPPORTED)_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)$/;

/** Sent by TLS 1.2 to a client without a certificate, and for much else. */
const HANDSHAKE_FAILURE = /^ERR_SSL_.*_ALERT_HANDSHAKE_FAILURE$/;

/** Whether TLS failed for an alert of the receiver. */
export const isAlert = (error: Error): boolean => /^ERR_SSL_.*_ALERT_/.test(codeOf(error));

/** Whether a receiver failed the handshake as one does that asks for a certificate. */
export const mayAskForCertificate = (error: Error): boolean =>
  ABOUT_CERTIFICATE.test(codeOf(error)) || HANDSHAKE_FAILURE.test(codeOf(error));

/** Codes of our own limits and checks: the reason says all of it. */
const OWN_CODE = /^(?:\w+_TIMEOUT|BLOCKED_ADDRESS|INVALID_RESPONSE)$/;
const LONGEST_TEXT = 200;

/**
 * What OpenSSL or the system said: the code of the innermost cause, with its words where the code says little. Undefined without
 * one. Receivers choose some of the words: those of names in a certificate.
 */
export function errorTextOf(error: unknown): string | undefined {
  const said = withCauses(error).findLast((each) => codeOf(each) !== '');
  const code = codeOf(said);
  if (said === undefined || OWN_CODE.test(code)) return undefined;
  const text = /^(?:E[A-Z]+\d*|ERR_SSL_.*|ERR_OSSL_.*|TUNNEL_REFUSED|NAME_SERVERS_AWAY)$/.test(code)
    ? code
    : `${code}: ${said.message}`;
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, LONGEST_TEXT)
    .toWellFormed();
}

/** The reason of an error, or of the first of its causes that has a known code. */
export function reasonOfError(error: unknown): FailureReason {
  for (const each of withCauses(error)) {
    const reason = reasonOfCode(codeOf(each));
    if (reason !== undefined) return reason;
    // undici's parser error has no code, against its documentation.
    if (each.name === 'HTTPParserError') return 'invalid_response';
  }
  return 'unknown';
}

const NO_DESCRIPTOR = new Set(['EMFILE', 'ENFILE']);

/** Whether this process or its machine has no file descriptor left, which is no receiver's fault. */
export function isForLackOfDescriptors(error: unknown): boolean {
  return withCauses(error).some((each) => NO_DESCRIPTOR.has(codeOf(each)));
}

function reasonOfCode(code: string): FailureReason | undefined {
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  if (ABOUT_CERTIFICATE.test(code)) return 'tls_certificate_required';
  return BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1];
}
