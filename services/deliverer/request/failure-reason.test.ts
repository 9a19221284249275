import { describe, expect, test } from '@jest/globals';
import { errorTextOf, reasonOfError, reasonOfStatus } from './failure-reason.ts';

const anError = (what: object, cause?: unknown) => Object.assign(new Error('text that is not read', { cause }), what);

describe('reasonOfError', () => {
  test.each([
    ['UNRESOLVED_HOST', 'dns'],
    ['ECONNREFUSED', 'connect_refused'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout'],
    ['EHOSTUNREACH', 'unreachable'],
    ['EACCES', 'unreachable'],
    ['ECONNRESET', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['INVALID_RESPONSE', 'invalid_response'],
    ['HPE_INVALID_CONSTANT', 'invalid_response'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_name'],
    ['CERT_NOT_YET_VALID', 'tls_expired'],
    ['CERT_HAS_EXPIRED', 'tls_expired'],
    ['CERT_REVOKED', 'tls_untrusted'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_untrusted'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'tls_failed'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'tls_failed'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls_certificate_required'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'tls_certificate_required'],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED', 'tls_certificate_required'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tls_certificate_required'],
    ['UNUSABLE_CERTIFICATE', 'credentials_unavailable'],
    ['EPROTO', 'tls_failed'],
    ['SOMETHING_ELSE', 'unknown'],
  ])('reads code %s as %s', (code, reason) => {
    expect(reasonOfError(anError({ code }))).toBe(reason);
  });

  test('reads the first cause with a code it knows', () => {
    expect(reasonOfError(anError({}, anError({ code: 'ERR_BAD' }, anError({ code: 'ECONNRESET' }))))).toBe('reset');
  });

  test('reads the error of several addresses as that of the first', () => {
    const each = [anError({ code: 'ECONNREFUSED' }), anError({ code: 'ENETUNREACH' })];
    expect(reasonOfError(Object.assign(new AggregateError(each), { code: 'ECONNREFUSED' }))).toBe('connect_refused');
  });

  test.each([undefined, null, 'text', {}])('reads %p, which is no error, as unknown', (thrown) => {
    expect(reasonOfError(thrown)).toBe('unknown');
  });
});

describe('errorTextOf', () => {
  test.each([
    ['ECONNREFUSED', undefined, 'ECONNREFUSED'],
    ['ERR_SSL_DH_KEY_TOO_SMALL', undefined, 'ERR_SSL_DH_KEY_TOO_SMALL'],
    ['UNSPECIFIED', undefined, 'UNSPECIFIED: text that is not read'],
    ['UNRESOLVED_HOST', { code: 'ESERVFAIL' }, 'ESERVFAIL'],
    ['UNUSABLE_CERTIFICATE', { code: 'ERR_OSSL_X509_KEY_VALUES_MISMATCH' }, 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'],
    ['RESPONSE_TIMEOUT', undefined, undefined],
    ['BLOCKED_ADDRESS', undefined, undefined],
  ])('shows code %s, caused by %j, as %s', (code, cause, text) => {
    expect(errorTextOf(anError({ code }, cause && anError(cause)))).toBe(text);
  });

  test('shows the words on one line, and not more than some', () => {
    const error = Object.assign(new Error(`a\r\n\0b ${'x'.repeat(1_000)}`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(errorTextOf(error)).toMatch(/^ERR_TLS_CERT_ALTNAME_INVALID: a b x{1,200}$/);
  });
});

describe('reasonOfStatus', () => {
  test.each([
    [300, 'redirect'],
    [399, 'redirect'],
    [400, 'http_4xx'],
    [499, 'http_4xx'],
    [500, 'http_5xx'],
    [599, 'http_5xx'],
    [600, 'http_other'],
  ])('reads %d as %s', (status, reason) => {
    expect(reasonOfStatus(status)).toBe(reason);
  });
});
