import { describe, expect, test } from '@jest/globals';
import { closerRemedy } from './reasons.ts';

const failed = (what: Partial<Parameters<typeof closerRemedy>[0]>) =>
  closerRemedy({ reason: 'redirect', error: null, url: 'http://hooks.example/in?key=***', location: null, ...what });

describe('the remedy of a redirect', () => {
  test.each([
    'https://hooks.example/in?key=***',
    'http://hooks.example/in/',
    'https://hooks.example/in/?key=***',
    'https://hooks.example:8443/in',
  ])('to %s is the final URL', (location) => {
    expect(failed({ location })).toContain('final URL');
  });

  test.each([
    'https://script.example.net/once/8f2',
    'https://hooks.example/login',
    'https://hooks.example/',
    'https://other.example/in',
    'not a url',
  ])('to %s is to answer itself: it may have been received', (location) => {
    expect(failed({ location })).toMatch(/whether it arrived.*relay/);
  });

  test('that says nothing is that of the reason', () => {
    expect(failed({})).toBeUndefined();
  });
});

describe('the remedy of a failure of TLS', () => {
  test.each([
    ['UNSPECIFIED: EE certificate key too weak', '2,048 bits'],
    ['UNSPECIFIED: CA signature digest algorithm too weak', 'SHA-256'],
    ['ERR_SSL_DH_KEY_TOO_SMALL', '2,048 bits'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS 1.2 or newer'],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'TLS 1.2 or newer'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['ERR_SSL_UNSAFE_LEGACY_RENEGOTIATION_DISABLED', 'renegotiation'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'common cipher'],
    ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'SNI'],
    ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'ALPN'],
  ])('%s says what to change: %s', (error, remedy) => {
    expect(failed({ reason: 'tls_failed', error })).toContain(remedy);
  });

  test('of another code, or of another reason, is that of the reason', () => {
    expect(failed({ reason: 'tls_failed', error: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR' })).toBeUndefined();
    expect(failed({ reason: 'reset', error: 'ERR_SSL_DH_KEY_TOO_SMALL' })).toBeUndefined();
  });
});
