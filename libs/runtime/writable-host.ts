import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { types } from 'node:util';
import pg from 'pg';
import { addressesIn } from './addresses.ts';
import type { ServerAddress } from './server-address.ts';

const DEFAULT_PORT = 5_432;

/** Address of a server, and the host name that its certificate must be valid for. */
export type HostAddress = { address: string; port: number; name: string };

/**
 * Finds the server of an address that accepts writes. Asks all at once, each address of a name by itself, and uses the first that
 * says so: a server that hangs delays nothing. Asks at each call, because another server may be the primary by now; concurrent calls
 * share one search. Returns undefined if the address names one host and does not require writes. Rejects if none accepts writes,
 * with the reason of each. Each server has `limitMs` to be reached, and as long to answer.
 */
export function findWritable(server: ServerAddress): (limitMs: number) => Promise<HostAddress | undefined> {
  const urls = addressesIn(server.url);
  let searching: Promise<HostAddress> | undefined;
  return async (limitMs) => {
    if (urls.length === 1 && !asksForWrites(urls[0])) return undefined;
    searching ??= search({ server, urls, limitMs }).finally(() => (searching = undefined));
    return searching;
  };
}

const READ_ONLY = `select current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** Throws if the server accepts no writes: it is a standby, or was made read-only. */
export async function requireWrites(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isReadOnly: boolean }>(READ_ONLY);
  if (rows[0]?.isReadOnly !== false) throw new Error('takes no writes');
}

/** Makes an unconnected client connect to that server. */
export function leadTo({ address, port, name }: HostAddress, client: pg.Client): void {
  Object.assign(client, { host: address, port });
  // A certificate for an address is checked against the address connected to.
  if (client.ssl && address !== name) Object.assign(client.connection, { ssl: { ...tlsOf(client), servername: name } });
}

/** Typed as a boolean. The key is hidden from copies, so that nobody prints it. */
function tlsOf({ ssl }: { ssl: unknown }): object {
  if (typeof ssl !== 'object' || ssl === null) return {};
  return { ...ssl, ...('key' in ssl && { key: ssl.key }) };
}

const asksForWrites = (url: string): boolean => URL.parse(url)?.searchParams.has('target_session_attrs') === true;

async function search({
  server: { tls },
  urls,
  limitMs,
}: {
  server: ServerAddress;
  urls: readonly string[];
  limitMs: number;
}): Promise<HostAddress> {
  const over = new AbortController();
  const askAt = async (url: string) => {
    const places = await placesOf(url, limitMs);
    over.signal.throwIfAborted();
    const config = {
      connectionString: url,
      ssl: tls ?? false,
      connectionTimeoutMillis: limitMs,
      query_timeout: limitMs,
    };
    return Promise.any(places.map((place) => ifWritable(place, new pg.Client(config), over.signal)));
  };
  try {
    return await Promise.any(urls.map(askAt));
  } catch (error) {
    throw whyNone(error);
  } finally {
    over.abort();
  }
}

async function placesOf(url: string, limitMs: number): Promise<HostAddress[]> {
  const { hostname, port } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '');
  const answered = new AbortController();
  const tooLate = sleep(limitMs, undefined, { signal: answered.signal }).then(() => {
    throw new Error(`the name ${name} was not looked up within ${limitMs} ms`);
  });
  try {
    const found = await Promise.race([lookup(name, { all: true }), tooLate]);
    return found.map(({ address }) => ({ address, port: Number(port) || DEFAULT_PORT, name }));
  } finally {
    answered.abort();
    tooLate.catch(() => undefined);
  }
}

/** Resolves with the server after it has confirmed that it accepts writes. */
async function ifWritable(place: HostAddress, client: pg.Client, over: AbortSignal): Promise<HostAddress> {
  const close = () => void client.connection.stream.destroy();
  over.addEventListener('abort', close);
  client.on('error', () => undefined);
  leadTo(place, client);
  try {
    await client.connect();
    await requireWrites(client);
    return place;
  } catch (error) {
    if (types.isNativeError(error)) error.message = `${place.name}:${place.port}: ${error.message}`;
    throw error;
  } finally {
    over.removeEventListener('abort', close);
    client.end().catch(() => undefined);
  }
}

/** Chooses the error for all hosts: a refusal if all refuse the user or lack the database, else an outage of the others. */
function whyNone(error: unknown): unknown {
  const reasons = reasonsOf(error);
  return reasons.every(isRefusal) ? reasons[0] : new Error(reasons.map(messageOf).join('; '));
}

const isRefusal = (reason: unknown): boolean =>
  reason instanceof pg.DatabaseError && reason.code?.startsWith('57') !== true;

const messageOf = (error: unknown): string => (types.isNativeError(error) ? error.message : String(error));

const reasonsOf = (error: unknown): unknown[] =>
  error instanceof AggregateError ? error.errors.flatMap(reasonsOf) : [error];
