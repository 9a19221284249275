import { Socket, type LookupFunction } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import { noteConnecting, type Connector } from './connection.ts';

/** How a connection came about: without TLS, by a whole handshake, or by resuming an earlier session. */
export type Handshake = 'none' | 'full' | 'resumed';

export type ConnectOptions = {
  connectTimeoutMs: number;
  lookup: LookupFunction;
  /** Called once for each connection that was made. */
  connected: (handshake: Handshake) => void;
};

/** One of several addresses of a host has a quarter of the limit; Node's own 500 ms give up what a busy process is late to notice. */
const ATTEMPT_SHARE = 1 / 4;

// Room for 10,000 origins with sessions of 3 KB; those with a small certificate are under 1 KB.
const SESSIONS_BYTES = 32 * 2 ** 20;
// A resumed session is not checked again: neither the name in the certificate nor that it is still valid.
const SESSION_MAX_AGE_MS = 3_600_000;

/**
 * Connects, and resumes the TLS session that a host and port had before, which spares a receiver its signature and both
 * sides the certificates. undici's own memory would hold 100 sessions, and those only until the next garbage collection.
 */
export function resumingConnector({ connectTimeoutMs, lookup, connected }: ConnectOptions): Connector {
  // One for all: undici would have one made for each connection.
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2' });
  const options = {
    timeout: connectTimeoutMs,
    autoSelectFamilyAttemptTimeout: Math.ceil(connectTimeoutMs * ATTEMPT_SHARE),
    lookup,
    allowH2: false,
    maxCachedSessions: 0,
    secureContext,
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
    const host = `${target.hostname}:${target.port}`;
    const session = sessions.get(host);
    const connect = buildConnector({ ...options, ...(session === undefined ? {} : { session }) });
    // undici returns the socket, which its types do not say.
    const connecting: unknown = connect(target, (...made) => {
      const [error, socket] = made;
      // Nor may a session that a server cannot digest keep us away from it.
      if (error !== null) sessions.delete(host);
      else connected(handshakeOf(socket));
      if (socket instanceof TLSSocket) socket.on('session', (next) => sessions.set(host, next));
      done(...made);
    });
    if (connecting instanceof Socket) noteConnecting(connecting, target.connection);
  };
}

function handshakeOf(socket: object): Handshake {
  if (!(socket instanceof TLSSocket)) return 'none';
  return socket.isSessionReused() ? 'resumed' : 'full';
}
