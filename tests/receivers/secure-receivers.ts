import type { ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { anAuthority, aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { tlsServer } from '@waybell/runtime/testing/server';
import { asked, drip, type HostileReceivers, type Started } from './hostile-receiver.ts';

const DAY_MS = 86_400_000;
const trusted = anAuthority('An authority that callers trust');
const good = trusted.issue({ name: 'localhost' });

/** PEM. Callers have to trust this authority: its certificates are at fault in one point only. */
export const trustedCertificate = trusted.cert;

const FATAL_HANDSHAKE_FAILURE = Buffer.from([0x15, 3, 3, 0, 2, 2, 40]);
// The head of a handshake record that says that 16 KiB follow.
const BEGUN_HANDSHAKE = '\x16\x03\x03\x40\0';

/** Receivers with which there is no agreeing on TLS, or no trusting. */
export const secureReceivers: HostileReceivers = {
  'shows the certificate of another': {
    end: 'tls_name',
    start: () => speakingTls(trusted.issue({ name: 'elsewhere.example' })),
  },
  'shows a certificate of yesterday': {
    end: 'tls_expired',
    start: () => speakingTls(trusted.issue({ name: 'localhost', notAfter: new Date(Date.now() - DAY_MS) })),
  },
  'vouches for itself': {
    end: 'tls_untrusted',
    start: () => speakingTls(aSelfSignedCertificate({ name: 'localhost' })),
  },
  'is vouched for by nobody known': {
    end: 'tls_untrusted',
    start: () => speakingTls(anAuthority('Another').issue({ name: 'localhost' })),
  },
  'speaks no TLS newer than 1.1': {
    end: 'tls_failed',
    start: () => speakingTls({ ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  },
  'speaks HTTP/2 only, and says so in TLS': {
    end: 'tls_failed',
    start: () => speakingTls({ ...good, ALPNProtocols: ['h2'] }),
  },
  'wants a certificate of the caller': {
    end: 'tls_failed',
    start: () => speakingTls({ ...good, maxVersion: 'TLSv1.2', requestCert: true }),
  },
  'wants a certificate of the caller, and says so by TLS 1.3': {
    end: 'tls_certificate_required',
    start: () => speakingTls({ ...good, requestCert: true }),
  },
  'answers the handshake with an alert': {
    end: 'tls_failed',
    start: () => insteadOfTls((socket) => void socket.end(FATAL_HANDSHAKE_FAILURE)),
  },
  'speaks plain HTTP on a port for TLS': {
    end: 'tls_failed',
    start: () => insteadOfTls((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')),
  },
  'closes during the handshake': { end: 'reset', start: () => insteadOfTls((socket) => void socket.end()) },
  'resets during the handshake': {
    end: 'reset',
    start: () => insteadOfTls((socket) => void socket.resetAndDestroy()),
  },
  'never answers the handshake': { end: 'connect_timeout', start: () => insteadOfTls(() => undefined) },
  'shakes hands byte by byte, without end': {
    end: 'connect_timeout',
    start: () =>
      insteadOfTls((socket) => {
        socket.write(Buffer.from(BEGUN_HANDSHAKE, 'latin1'));
        drip(socket, '\0');
      }),
  },
};

const speakingTls = (options: ServerOptions): Promise<Started> => tlsServer(options, (_, response) => response.end());

/** Does this when the first bytes of a handshake come. */
async function insteadOfTls(act: (socket: Socket) => void): Promise<Started> {
  const server = await asked(act);
  return { ...server, url: server.url.replace('http:', 'https:') };
}
