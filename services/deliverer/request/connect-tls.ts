import { createSecureContext, TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import { withoutRootDot } from '@waybell/runtime/names/host-name';
import type { Connector } from './connection.ts';

/** How a connection came about: without TLS, by a whole handshake, or by resuming an earlier session. */
export type Handshake = 'none' | 'full' | 'resumed';

export type ConnectTlsOptions = {
  /** Opens what TLS is spoken over: notes in the target's connection what becomes known, but not the wire. */
  open: Connector;
  connectTimeoutMs: number;
  /** Called once for each connection that was made. */
  connected: (handshake: Handshake) => void;
};

// Room for 10,000 origins with sessions of 3 KB; those with a small certificate are under 1 KB.
const SESSIONS_BYTES = 32 * 2 ** 20;
// A resumed session is not checked again: neither the name in the certificate nor that it is still valid.
const SESSION_MAX_AGE_MS = 3_600_000;
/** Servers offer two; each that comes is digested. */
const MOST_SESSIONS = 4;

/**
 * Connects, and for https agrees on TLS over that. Resumes the session that a host and port had before, which spares a
 * receiver its signature and both sides the certificates; undici's own memory would hold 100 sessions, and those only until
 * the next garbage collection.
 */
export function connectingTls({ open, connectTimeoutMs, connected }: ConnectTlsOptions): Connector {
  const options = {
    allowH2: false,
    maxCachedSessions: 0,
    // One for all: undici would have one made for each connection.
    secureContext: createSecureContext({ minVersion: 'TLSv1.2' }),
    // Said, so that no variable of Node's can turn it off.
    rejectUnauthorized: true,
  };
  const sessions = new LRUCache<string, Buffer>({
    maxSize: SESSIONS_BYTES,
    sizeCalculation: (session) => session.length,
    ttl: SESSION_MAX_AGE_MS,
    // Counted from the whole handshake: sessions that resume each other do not grow old separately.
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
      const host = `${hostname}:${port}`;
      const session = sessions.get(host);
      const timeout = Math.max(1, connectTimeoutMs - (connection.clock.now() - connection.begunAt));
      const secure = buildConnector({ ...options, timeout, ...(session === undefined ? {} : { session }) });
      const name = withoutRootDot(hostname);
      // Many servers know no name with a dot at its end (RFC 6066, 3: it is sent without).
      const servername = name === hostname ? {} : { servername: name };
      secure({ ...target, ...servername, httpSocket: wire }, (...made) => {
        const [failure, socket] = made;
        // Nor may a session that a server cannot digest keep us away from it.
        if (failure !== null) sessions.delete(host);
        else if (socket instanceof TLSSocket) {
          connection.securedAt = connection.clock.now();
          connected(socket.isSessionReused() ? 'resumed' : 'full');
          keepSessions(socket, (next) => sessions.set(host, next));
        }
        done(...made);
      });
    });
  };
}

function keepSessions(socket: TLSSocket, keep: (session: Buffer) => void): void {
  let count = 0;
  socket.on('session', function next(session: Buffer) {
    keep(session);
    count += 1;
    if (count === MOST_SESSIONS) socket.off('session', next);
  });
}
