import { types } from 'node:util';

/** Why an attempt failed: a closed list, read from statuses and error codes, never from the text of a message. */
export type FailureReason =
  | 'dns'
  | 'blocked_address'
  | 'connect_refused'
  | 'connect_timeout'
  | 'unreachable'
  | 'tls_name'
  | 'tls_expired'
  | 'tls_untrusted'
  | 'tls_failed'
  | 'handover_timeout'
  | 'response_timeout'
  | 'reset'
  | 'invalid_response'
  | 'redirect'
  | 'http_4xx'
  | 'http_5xx'
  | 'http_other'
  | 'unknown';

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
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ECONNREFUSED: 'connect_refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
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
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
  // A status below 100 trips an assertion of undici's parser.
  ERR_ASSERTION: 'invalid_response',
};

const BY_PREFIX: [string, FailureReason][] = [
  ['EAI_', 'dns'],
  ['HPE_', 'invalid_response'],
  ['UND_ERR_RES_', 'invalid_response'],
  ['UNABLE_TO_', 'tls_untrusted'],
  ['CERT_', 'tls_untrusted'],
  ['ERR_SSL_', 'tls_failed'],
  ['ERR_TLS_', 'tls_failed'],
];

/** The reason of an error, or of the first of its causes that has a known code. */
export function reasonOfError(error: unknown): FailureReason {
  for (let each = error; types.isNativeError(each); each = each.cause) {
    const reason = reasonOfCode('code' in each && typeof each.code === 'string' ? each.code : '');
    if (reason !== undefined) return reason;
    // undici's parser error has a code only on paper.
    if (each.name === 'HTTPParserError') return 'invalid_response';
  }
  return 'unknown';
}

function reasonOfCode(code: string): FailureReason | undefined {
  return BY_CODE[code] ?? BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1];
}
