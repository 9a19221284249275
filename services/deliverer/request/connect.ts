/**
 * Opens the connections of callbacks, over three steps, each a connector around the one before:
 *
 *   connectingToAny: a plain connection to the first address that answers ──▶ connectingTls ──▶ safeConnector: refuses forbidden ports
 *
 * Addresses are checked at every connection, after its name was resolved. An address that does not answer costs the next one a moment,
 * not a share of a limit, and neither is given up for the other: a slow one may still be the only one (RFC 8305, 5).
 *
 *   find ──> address 1 ······································· hangs
 *            └ 300 ms ─> address 2 ··· refused
 *                                      └──> address 3 ── connected: the others are let go, those that hung go last for a minute
 *
 * TLS resumes the last session of a host and port, as a connection that authenticates by a certificate does with sessions of that only.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { errors, buildConnector } from 'undici';
import { LEAST_TLS } from '@waybell/runtime/callback-terms';
import type { Clock } from '@waybell/runtime/clock';
import { codeOf } from '@waybell/runtime/error-codes';
import { type ResolveHost, withoutRootDot } from '@waybell/runtime/names/resolve-host';
import { isForbiddenPort, isForbiddenAddress, type CallbackNetworks } from '@waybell/runtime/networks';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Connection, Connector, OpenAddress } from './connection.ts';
import { isAlert } from './failure-reason.ts';
import type { Tunnel } from './proxy-tunnel.ts';

/** TLS handshake of a connection: none, a full one, or one that resumed an earlier session. */
export type Handshake = 'none' | 'full' | 'resumed';

type ConnectOptions = Omit<ConnectTlsOptions, 'open'> & {
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
  resolveHost: ResolveHost;
  clock: Clock;
  /** Undefined if callbacks leave directly. */
  tunnel: Tunnel | undefined;
};

/**
 * Opens connections for callbacks, only to allowed addresses and ports. Filters the addresses of a name at every connection,
 * so that a name cannot change between check and use, nor a remembered answer pass unchecked.
 */
export function safeConnector(options: ConnectOptions): Connector {
  const { deniedPorts, tunnel, connectTimeoutMs, connected, clock } = options;
  const openAddress = tunnel === undefined ? directly : tunnel.open;
  const open = connectingToAny({ find: safeLookup(options), open: openAddress, connectTimeoutMs, clock });
  const connect = connectingTls({ open, connectTimeoutMs, connected });
  return notingBlocked((target, done) => {
    if (!isForbiddenPort(target, deniedPorts)) return connect(target, done);
    done(new BlockedAddress(target.hostname, `port ${target.port}`), null);
  });
}

function safeLookup({ networks, resolveHost }: ConnectOptions): ResolveHost {
  return async (hostname) => {
    const host = withoutRootDot(hostname);
    const family = isIP(host);
    const addresses = family === 0 ? await resolveHost(hostname) : [{ address: host, family }];
    const permitted = addresses.filter(({ address }) => !isForbiddenAddress(address, networks));
    const [first] = addresses;
    if (permitted.length === 0 && first !== undefined) throw new BlockedAddress(host, first.address);
    return permitted;
  };
}

/** Notes the blocked address in the connection. */
function notingBlocked(connect: Connector): Connector {
  return (target, done) =>
    connect(target, (...made) => {
      const [error] = made;
      if (error instanceof BlockedAddress && isIP(error.place) !== 0) target.connection.ip = error.place;
      done(...made);
    });
}

// The limit is that of all addresses together.
const connectPlainly = buildConnector({ timeout: 0 });

const directly: OpenAddress = ({ address }, port, signal) =>
  new Promise((resolve, reject) => {
    const to = { hostname: address, host: address, protocol: 'http:', port: String(port) };
    // undici returns the socket, which its types do not say.
    const socket: unknown = connectPlainly(to, (error, made) => (error === null ? resolve(made) : reject(error)));
    if (socket instanceof Socket) signal.addEventListener('abort', () => socket.destroy(), { once: true });
  });

/** The callback's host is, or resolves to, an address that callbacks must not reach, or its port is forbidden. */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  /** The address, or the port. */
  readonly place: string;
  /** A name led to the address: it may lead to another one tomorrow, or for others. */
  readonly isOfName: boolean;
  constructor(host: string, place: string) {
    super(`${host} is at ${place}, where callbacks are not sent`);
    this.place = place;
    this.isOfName = isIP(place) !== 0 && isIP(host) === 0;
    this.name = 'BlockedAddress';
  }
}

type ConnectToAnyOptions = {
  /** Finds the addresses that callbacks may go to. */
  find: ResolveHost;
  open: OpenAddress;
  connectTimeoutMs: number;
  clock: Clock;
};

/** Head start of an address, and of all of them together. */
const HEAD_START_MS = 300;
const ALL_STARTED_MS = 1_200;
const AVOIDED_MS = 60_000;
const MOST_AVOIDED = 10_000;

/** Connects without TLS. Notes address and times in the connection, and how to have its address go last for a while. */
export function connectingToAny({ find, open, connectTimeoutMs, clock }: ConnectToAnyOptions): Connector {
  const avoided = new LRUCache<string, true>({ max: MOST_AVOIDED, ttl: AVOIDED_MS, ttlResolution: 0, perf: clock });
  const rank = ({ address }: LookupAddress) => (avoided.has(address) ? 1 : 0);

  async function connect(hostname: string, port: number, connection: Connection): Promise<Socket> {
    const found = await find(hostname);
    if (isIP(hostname) === 0) connection.resolvedAt = connection.clock.now();
    const addresses = found.toSorted((one, other) => rank(one) - rank(other));
    if (addresses.length > 1) connection.avoid = () => void (connection.ip && avoided.set(connection.ip, true));
    const leftMs = connectTimeoutMs - (connection.clock.now() - connection.begunAt);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const trying = new Map<LookupAddress, AbortController>();
    const failures: unknown[] = [];
    let headStart: Disposable | undefined;

    const end = (taken?: LookupAddress) => {
      headStart?.[Symbol.dispose]();
      limit[Symbol.dispose]();
      for (const [each, attempt] of trying) {
        if (each === taken) continue;
        avoided.set(each.address, true);
        attempt.abort();
      }
      trying.clear();
      addresses.length = 0;
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    const limit = clock.after(Math.max(0, leftMs), () => fail(new errors.ConnectTimeoutError('no connection in time')));

    const tryNext = () => {
      headStart?.[Symbol.dispose]();
      const to = addresses.shift();
      if (to === undefined) return;
      const attempt = new AbortController();
      trying.set(to, attempt);
      connection.ip = to.address;
      open(to, port, attempt.signal).then(
        (socket) => {
          if (!trying.has(to)) return void socket.on('error', () => undefined).destroy();
          connection.ip = to.address;
          connection.connectedAt = connection.clock.now();
          end(to);
          resolve(socket);
        },
        (error: unknown) => {
          if (!trying.delete(to)) return;
          failures.push(error);
          if (error instanceof Unavailable) fail(error);
          else if (addresses.length > 0) tryNext();
          else if (trying.size === 0) fail(failureOfAll(failures));
        },
      );
      const waitMs = Math.min(HEAD_START_MS, ALL_STARTED_MS / found.length);
      if (addresses.length > 0) headStart = clock.after(waitMs, tryNext);
    };
    tryNext();
    return promise;
  }

  const connectSocket = callbackify(connect);
  return ({ hostname, port, protocol, connection }, done) => {
    const portNumber = Number(port || (protocol === 'https:' ? '443' : '80'));
    connectSocket(hostname, portNumber, connection, (error, socket) =>
      error === null ? done(null, socket) : done(error, null),
    );
  };
}

/** As Node does for several addresses: it has the code of the first. */
function failureOfAll(failures: readonly unknown[]): unknown {
  const [first] = failures;
  return failures.length === 1 ? first : Object.assign(new AggregateError(failures), { code: codeOf(first) });
}

type ConnectTlsOptions = {
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
function connectingTls({ open, connectTimeoutMs, connected }: ConnectTlsOptions): Connector {
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
