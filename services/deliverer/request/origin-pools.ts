import { LRUCache } from 'lru-cache';
import { Client, Pool, type Dispatcher } from 'undici';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { identityOf, type ClientCertificate, type Identity, type Connection, type Connector } from './connection.ts';

/**
 * A handler that is given, before its request is sent, a function that returns the connection which it uses or waits for.
 */
export type ConnectionObserver = Dispatcher.DispatchHandler & {
  /** The certificate that connections for its request authenticate with, if any. */
  readonly certificate?: ClientCertificate | undefined;
  onConnection?: (connection: () => Connection | undefined) => void;
};

type ClientOptions = Omit<Client.Options, 'connect'> & { connect: Connector; clock?: Clock; identity?: Identity };

export type OriginPoolsOptions = ClientOptions & {
  /** Pools with connections at once, at most: the least recently used is closed. */
  maxOrigins: number;
};

/**
 * Throws UnusableCertificate. Sends a request over an idle connection or a new one. `over`: over a new one that no other request uses;
 * or by TLS 1.2, as all requests of its origin and certificate from then on, for an hour.
 */
export type RequestDispatcher = {
  dispatch: (request: Dispatcher.DispatchOptions, handler: ConnectionObserver, over?: NewWay) => boolean;
};
type NewWay = 'a new connection' | 'TLS 1.2';

const OLDER_TLS_MS = 3_600_000;

/** A pool of connections per origin, and per origin and certificate. Disposing cuts requests under way. */
export type OriginPools = RequestDispatcher & AsyncDisposable & { size: () => number };

/**
 * undici's Agent, but bounded: that keeps the connections of all origins, and walks over all origins whenever one closes.
 */
export function openOriginPools({ maxOrigins, ...options }: OriginPoolsOptions): OriginPools {
  const open = new Set<Pool | Client>();
  let isClosed = false;
  const current = new LRUCache<string, OriginPool>({
    max: maxOrigins,
    // Requests under way are finished.
    dispose: (pool) => void pool.close().then(() => open.delete(pool)),
  });

  const olderTls = new LRUCache<string, true>({ max: maxOrigins, ttl: OLDER_TLS_MS });

  function openPool(key: string, origin: string, made: ClientOptions): OriginPool {
    const pool = new OriginPool(origin, made);
    // Its own count walks over all clients, and would be read at the end of each.
    let connections = 0;
    const closeUnused = () => {
      // A pool that is being destroyed emits this once per connection.
      if (connections > 0 || pool.destroyed) return;
      const { connected, size } = pool.stats;
      if (connected === 0 && size === 0 && current.peek(key) === pool) current.delete(key);
    };
    pool
      .on('connect', () => (connections += 1))
      .on('disconnect', () => {
        connections -= 1;
        closeUnused();
      })
      .on('connectionError', closeUnused);
    open.add(pool);
    current.set(key, pool);
    return pool;
  }

  function optionsFor(key: string, certificate: ClientCertificate | undefined): ClientOptions {
    if (certificate === undefined) return options;
    return { ...options, identity: identityOf(certificate, olderTls.has(key) ? 'TLSv1.2' : undefined) };
  }

  function dispatchAlone(
    made: ClientOptions,
    request: Dispatcher.DispatchOptions,
    handler: ConnectionObserver,
  ): boolean {
    const client = new ObservedClient(new URL(String(request.origin)), made);
    open.add(client);
    const isReady = client.dispatch(request, handler);
    // Requests under way are finished.
    void client.close().then(() => open.delete(client));
    return isReady;
  }

  return {
    dispatch(request, handler, over) {
      if (isClosed) throw new Error('requests have been cut');
      const origin = String(request.origin);
      const { certificate } = handler;
      const key = certificate === undefined ? origin : `${certificate.guid} ${origin}`;
      if (over === 'TLS 1.2' && !olderTls.has(key)) {
        olderTls.set(key, true);
        current.delete(key);
      }
      const pool = current.get(key);
      if (over === 'a new connection') {
        return dispatchAlone(pool?.options ?? optionsFor(key, certificate), request, handler);
      }
      return (pool ?? openPool(key, origin, optionsFor(key, certificate))).dispatch(request, handler);
    },
    size: () => current.size,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.all([...open].map((each) => each.destroy()));
    },
  };
}

/** All connections of a pool authenticate by the same certificate, or by none. */
class OriginPool extends Pool {
  readonly options: ClientOptions;

  constructor(origin: string, options: ClientOptions) {
    super(origin, { factory: (url) => new ObservedClient(url, options) });
    this.options = options;
  }
}

/** undici's client, which has one connection at a time, and passes it to handlers. */
class ObservedClient extends Client {
  readonly #latest: () => Connection | undefined;

  constructor(origin: URL, { connect, clock = systemClock, identity, ...options }: ClientOptions) {
    let connection: Connection | undefined;
    super(origin, {
      ...options,
      connect(target, done) {
        connection = { clock, begunAt: clock.now(), ...(identity && { identity }) };
        connect({ ...target, connection }, done);
      },
    });
    this.#latest = () => connection;
  }

  override dispatch(request: Dispatcher.DispatchOptions, handler: ConnectionObserver): boolean {
    handler.onConnection?.(this.#latest);
    return super.dispatch(request, handler);
  }
}
