/**
 * Connects to the first address of a host that answers (RFC 8305, 5). An address that does not answer costs the next one a moment, not
 * a share of a limit, and neither is given up for the other: a slow one may still be the only one.
 *
 *   find ──> address 1 ······································· hangs
 *            └ 300 ms ─> address 2 ··· refused
 *                                      └──> address 3 ── connected: the others are let go, those that hung go last for a minute
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { errors } from 'undici';
import type { Clock } from '@waybell/runtime/clock';
import { codeOf } from '@waybell/runtime/error-codes';
import type { ResolveHost } from '@waybell/runtime/names/resolve-host';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Connection, Connector } from './connection.ts';

/** Opens a plain connection. Rejects with `Unavailable` if there is no way out to any address. */
export type OpenAddress = (to: LookupAddress, port: number, signal: AbortSignal) => Promise<Socket>;

export type ConnectToAnyOptions = {
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
