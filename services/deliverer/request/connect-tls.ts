import { createSecureContext, TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import { LEAST_TLS } from '@waybell/runtime/callback-terms';
import { withoutRootDot } from '@waybell/runtime/names/resolve-host';
import type { Connection, Connector } from './connection.ts';
import { isAlert } from './failure-reason.ts';

/** TLS handshake of a connection: none, a full one, or one that resumed an earlier session. */
export type Handshake = 'none' | 'full' | 'resumed';

export type ConnectTlsOptions = {
  /** Opens the plain connection, and notes what becomes known in the target's `connection`, but not `wire`. */
  open: Connector;
  connectTimeoutMs: number;
  /** Called once per connection. */
  connected: (handshake: Handshake) => void;
};

// Room for 10,000 origins with sessions of 3 KB; those with a small certificate are under 1 KB.
const SESSIONS_BYTES = 32 * 2 ** 20;
// A resumed session is not checked again, neither its certificate's name nor its validity.
const SESSION_MAX_AGE_MS = 3_600_000;
/** Servers offer two sessions per connection. */
const MOST_SESSIONS = 4;

/**
 * Connects, with TLS for https. Resumes the last session of a host and port, which saves the receiver a signature and both
 * sides the certificates; undici's own cache holds 100 sessions, and only until the next garbage collection. A connection that
 * authenticates by a certificate resumes sessions of that certificate only, and no other connection does.
 */
export function connectingTls({ open, connectTimeoutMs, connected }: ConnectTlsOptions): Connector {
  const options = {
    allowH2: false,
    maxCachedSessions: 0,
    // One for all: undici would make one for each connection.
    secureContext: createSecureContext({ minVersion: LEAST_TLS }),
    // Explicit, so that no environment variable of Node can turn it off.
    rejectUnauthorized: true,
  };
  const sessions = new LRUCache<string, Buffer>({
    maxSize: SESSIONS_BYTES,
    sizeCalculation: (session) => session.length,
    ttl: SESSION_MAX_AGE_MS,
    // The age counts from the full handshake, not from a resumption.
    noUpdateTTL: true,
  });

  return (target, done) => {
    const { connection, hostname, port, protocol } = target;
    open(target, (...opened) => {
      const [error, wire] = opened;
      if (error !== null) return done(error, null);
      connection.wire = wire;
      if (protocol !== 'https:') {
        connected('none');
        return done(...opened);
      }
      const { identity } = connection;
      const host = `${hostname}:${port}`;
      const key = identity === undefined ? host : `${identity.guid} ${host}`;
      const session = sessions.get(key);
      const timeout = Math.max(1, connectTimeoutMs - (connection.clock.now() - connection.begunAt));
      const secure = buildConnector({
        ...options,
        ...(identity && { secureContext: identity.secureContext }),
        timeout,
        ...(session === undefined ? {} : { session }),
      });
      const name = withoutRootDot(hostname);
      // SNI has no dot at the end (RFC 6066, 3).
      const servername = name === hostname ? {} : { servername: name };
      connection.isSecuring = true;
      // undici returns the socket, which its types do not say.
      const securing: unknown = secure({ ...target, ...servername, httpSocket: wire }, (...made) => {
        const [failure, socket] = made;
        if (failure !== null) {
          // The session may be what the server failed at.
          sessions.delete(key);
          connection.isUntrusted = securing instanceof TLSSocket && securing.authorizationError != null;
          connection.hasShownItself = securing instanceof TLSSocket && securing.getPeerX509Certificate() !== undefined;
        } else if (socket instanceof TLSSocket) {
          connection.securedAt = connection.clock.now();
          connection.isSecuring = false;
          connected(socket.isSessionReused() ? 'resumed' : 'full');
          if (identity !== undefined) {
            connection.forgetSession = () => sessions.delete(key);
            // Whoever asks for a certificate says by which algorithms it may be signed.
            const isAsked = socket.isSessionReused() || socket.getSharedSigalgs().length > 0;
            connection.mayAskLater = socket.getProtocol() === 'TLSv1.3' && !isAsked;
          }
          destroyAtAlert(socket, connection);
          keepSessions(socket, (next) => sessions.set(key, next));
        }
        done(...made);
      });
    });
  };
}

/**
 * Destroys a socket at an alert after the handshake: Node.js emits the alert as an event only, and then reports the end that
 * follows it as the error.
 */
function destroyAtAlert(socket: TLSSocket, { forgetSession }: Connection): void {
  socket.once('error', (error) => {
    // Skips errors of undici, which closes idle connections with one.
    if (!isAlert(error)) return;
    forgetSession?.();
    socket.destroy(error);
  });
}

function keepSessions(socket: TLSSocket, keep: (session: Buffer) => void): void {
  let count = 0;
  socket.on('session', function next(session: Buffer) {
    keep(session);
    count += 1;
    if (count === MOST_SESSIONS) socket.off('session', next);
  });
}
