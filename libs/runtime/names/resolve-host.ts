import type { LookupAddress, RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { Clock } from '../clock.ts';
import { LRUCache } from 'lru-cache';
import { isAnswer, watchNameServers, type AssertAnswering } from './name-servers.ts';
import { codeOf } from '../error-codes.ts';
import { namesToAsk, systemNames, type SystemNames } from './system-names.ts';

/** The addresses of a host, at least one. Throws `UnresolvedHost`, or `Unavailable` where no name would be found. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

/** DNS knows no address of the host, or did not say. */
export class UnresolvedHost extends Error {
  readonly code = 'UNRESOLVED_HOST';
  constructor(host: string, cause: unknown) {
    super(`no address of ${host} was found`, { cause });
    this.name = 'UnresolvedHost';
  }
}

export type ResolveOptions = {
  names: SystemNames;
  /** Servers to ask, `address:port`; those of the machine unless given. */
  servers?: string[];
  clock: Clock;
  /** How long a name server has for its answer, each time that it is asked. */
  tryMs?: number;
};

const MAX_HOSTS = 10_000;
const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
const TRY_MS = 1_000;
const TRIES = 3;
/** Less than half of the least time that a request has: the name servers are asked what ails them after that. */
const PATIENCE_MS = 1_000;
const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL']);

/**
 * Looks hosts up in the order of the system, hosts file and then DNS, but without its threads: getaddrinfo runs on two
 * of them in all, so that two names whose servers do not answer would keep all others from connecting. An answer is used
 * for as long as its TTL says, within a second and five minutes; that there is none is not remembered.
 */
export function resolverOf({ names, servers, clock, tryMs = TRY_MS }: ResolveOptions): ResolveHost {
  const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const assertAnswering = watchNameServers({ clock, servers, tryMs });
  const known = new LRUCache<string, LookupAddress[]>({
    max: MAX_HOSTS,
    ttl: MIN_TTL_MS,
    ttlResolution: 0,
    perf: { now: clock.now },
    // One that made room while it was looked up is answered nonetheless.
    ignoreFetchAbort: true,
    fetchMethod: async (host, _, { options }) => {
      const records = await unlessAway(search(resolver, host, names), { clock, assertAnswering });
      options.ttl = Math.min(Math.max(ttlMs(records), MIN_TTL_MS), MAX_TTL_MS);
      return records.map(({ address, family }) => ({ address, family }));
    },
  });
  return async (host) => names.hosts.get(host) ?? known.forceFetch(host);
}

export function systemResolver(clock: Clock): ResolveHost {
  return resolverOf({ names: systemNames(), clock });
}

type AddressRecord = RecordWithTtl & LookupAddress;

type Watching = { clock: Clock; assertAnswering: AssertAnswering };

/** What is found, or why not; where the name servers are away, that. */
async function unlessAway<T>(found: Promise<T>, { clock, assertAnswering }: Watching): Promise<T> {
  const patience = Promise.withResolvers<never>();
  using _timer = clock.after(PATIENCE_MS, () => void assertAnswering().catch(patience.reject));
  try {
    return await Promise.race([found, patience.promise]);
  } catch (error) {
    if (error instanceof UnresolvedHost && !isAnswer(error.cause)) await assertAnswering();
    throw error;
  }
}

async function search(resolver: Resolver, host: string, names: SystemNames): Promise<AddressRecord[]> {
  let lastError: unknown;
  for (const name of namesToAsk(host, names)) {
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ]);
    const records = [...recordsOf(v4, 4), ...recordsOf(v6, 6)];
    if (records.length > 0) return records;
    lastError = [v4, v6].map(errorOf).find((error) => !isAbsence(error)) ?? errorOf(v4);
    if (!isAbsence(lastError)) break;
  }
  throw new UnresolvedHost(host, lastError);
}

function recordsOf(asked: PromiseSettledResult<RecordWithTtl[]>, family: 4 | 6): AddressRecord[] {
  return asked.status === 'fulfilled' ? asked.value.map((record) => ({ ...record, family })) : [];
}

const errorOf = (asked: PromiseSettledResult<unknown>): unknown =>
  asked.status === 'rejected' ? asked.reason : undefined;

const isAbsence = (error: unknown): boolean => error === undefined || ABSENT.has(codeOf(error));

const ttlMs = (records: AddressRecord[]): number => Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
