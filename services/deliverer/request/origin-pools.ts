import { LRUCache } from 'lru-cache';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { Client, Pool, type Dispatcher } from 'undici';
import type { Connection, Connector } from './connection.ts';

/** Told, before its request is sent, where to ask for the connection that it goes over or waits for. */
export type ConnectionObserver = Dispatcher.DispatchHandler & {
  onConnection?: (connection: () => Connection | undefined) => void;
};

type ClientOptions = Omit<Client.Options, 'connect'> & { connect: Connector; clock?: Clock };

export type OriginPoolsOptions = ClientOptions & {
  /** Origins with connections at once, at most: the one that was not asked for longest makes room. */
  maxOrigins: number;
};

/** Sends a request over a connection that is idle or is made for it; `over`: over one that is made for it alone. */
export type RequestDispatcher = {
  dispatch: (request: Dispatcher.DispatchOptions, handler: ConnectionObserver, over?: 'a new connection') => boolean;
};

/** A pool of connections per origin, for as long as there is one. Disposing cuts what is under way. */
export type OriginPools = RequestDispatcher & AsyncDisposable & { size: () => number };

/** undici's Agent, but bounded: it would keep every origin's connections, and go through all origins as each one closes. */
export function openOriginPools({ maxOrigins, ...options }: OriginPoolsOptions): OriginPools {
  const open = new Set<Pool | Client>();
  let isClosed = false;
  const current = new LRUCache<string, Pool>({
    max: maxOrigins,
    // What is under way is finished.
    dispose: (pool) => void pool.close().then(() => open.delete(pool)),
  });

  function openPool(origin: string): Pool {
    const pool = new Pool(origin, { factory: (url) => new ObservedClient(url, options) });
    const closeUnused = () => {
      // A pool that is being destroyed says so once for each connection.
      if (pool.destroyed) return;
      const { connected, size } = pool.stats;
      if (connected === 0 && size === 0 && current.peek(origin) === pool) current.delete(origin);
    };
    pool.on('disconnect', closeUnused).on('connectionError', closeUnused);
    open.add(pool);
    current.set(origin, pool);
    return pool;
  }

  function dispatchAlone(origin: string, request: Dispatcher.DispatchOptions, handler: ConnectionObserver): boolean {
    const client = new ObservedClient(new URL(origin), options);
    open.add(client);
    const isReady = client.dispatch(request, handler);
    // What is under way is finished.
    void client.close().then(() => open.delete(client));
    return isReady;
  }

  return {
    dispatch(request, handler, over) {
      if (isClosed) throw new Error('requests have been cut');
      const origin = String(request.origin);
      if (over === 'a new connection') return dispatchAlone(origin, request, handler);
      return (current.get(origin) ?? openPool(origin)).dispatch(request, handler);
    },
    size: () => current.size,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.all([...open].map((each) => each.destroy()));
    },
  };
}

/** undici's client, which has one connection at a time, for requests that want to know about theirs. */
class ObservedClient extends Client {
  readonly #latest: () => Connection | undefined;

  constructor(origin: URL, { connect, clock = systemClock, ...options }: ClientOptions) {
    let connection: Connection | undefined;
    super(origin, {
      ...options,
      connect(target, done) {
        connection = { clock, begunAt: clock.now() };
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
