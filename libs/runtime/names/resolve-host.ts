import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { codeOf } from '../error-codes.ts';
import type { Log } from '../log.ts';
import { findAddresses, UnresolvedHost, type AddressRecord } from './find-addresses.ts';
import { withoutRootDot } from './host-name.ts';
import { isAnswer, NameServers } from './name-servers.ts';
import { followSystemNames, namesToAsk, type SystemNames } from './system-names.ts';

/** The addresses of a host, at least one. Throws `UnresolvedHost`, or `NameServersAway` where no name would be found. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

export type NamesOptions = {
  /** The machine's name configuration now: the same object until it changes. */
  readNames: () => SystemNames;
  clock: Clock;
  log?: Pick<Log, 'info' | 'warn'>;
  /** Whether names without a dot go through the search list. It may lead to a stranger: no, unless said otherwise. */
  searches?: boolean;
  /** How long a name server has for its answer, each time that it is asked. */
  tryMs?: number;
};

const MAX_HOSTS = 10_000;
const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
const TRY_MS = 1_000;
const TRIES = 3;
/** How often it is looked whether the machine is told something else, while names are asked for. */
const LOOK_INTERVAL_MS = 5_000;
/** Less than half of the least time that a request has: the name servers are asked what ails them after that. */
const PATIENCE_MS = 1_000;

/**
 * Looks hosts up in the order of the system, hosts file and then DNS, but without its threads: getaddrinfo runs on two
 * of them in all, so that two names whose servers do not answer would keep all others from connecting. An answer is used
 * for as long as its TTL says, within a second and five minutes; that there is none is not remembered. What the machine
 * is told of names is followed while this runs.
 */
export class Names {
  readonly #options: NamesOptions;
  readonly #nameServers: NameServers;
  #names: SystemNames;
  #resolver: Resolver;
  #known: LRUCache<string, LookupAddress[]>;
  #lookedAt: number;

  constructor(options: NamesOptions) {
    const { readNames, clock, log } = options;
    this.#options = options;
    this.#names = readNames();
    this.#lookedAt = clock.now();
    this.#resolver = this.#openResolver();
    this.#known = this.#openMemory();
    this.#nameServers = new NameServers({
      areNamed: () => this.#names.servers.length > 0,
      openResolvers: () => this.#openEach(),
      onSilence: () => {
        this.#look();
        // Its sockets may be of a network that this machine has left.
        this.#resolver = this.#openResolver();
      },
      clock,
      log,
    });
  }

  readonly resolveHost: ResolveHost = async (host) => this.#inHosts(host) ?? this.#known.forceFetch(host);

  /** The same, whatever is remembered; and nothing of it is. */
  readonly resolveAfresh: ResolveHost = async (host) => this.#inHosts(host) ?? this.#ask(host);

  /** The name servers, while they do not answer. */
  readonly waitingFor = (): string[] => this.#nameServers.waitingFor();

  #inHosts(host: string): LookupAddress[] | undefined {
    if (this.#options.clock.now() - this.#lookedAt >= LOOK_INTERVAL_MS) this.#look();
    return this.#names.hosts.get(withoutRootDot(host).toLowerCase());
  }

  #look(): void {
    const { readNames, clock, log } = this.#options;
    this.#lookedAt = clock.now();
    const names = readNames();
    if (names === this.#names) return;
    this.#names = names;
    this.#resolver = this.#openResolver();
    // Other name servers may have other answers.
    this.#known = this.#openMemory();
    log?.info({ servers: this.#resolver.getServers() }, 'name-servers.changed');
    this.#nameServers.changed();
  }

  #openResolver(servers: readonly string[] = this.#names.servers, tries = TRIES): Resolver {
    const { tryMs = TRY_MS } = this.#options;
    const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries });
    // Node would leave out the zone of an address, which c-ares reads from resolv.conf by itself.
    if (servers.length > 0 && !servers.some((server) => server.includes('%'))) resolver.setServers(servers);
    return resolver;
  }

  /** One for each name server, if they can be told apart. */
  #openEach(): Resolver[] {
    const servers = this.#names.servers.map((server) => [server]);
    return (servers.length > 0 ? servers : [[]]).map((server) => this.#openResolver(server, 1));
  }

  #openMemory(): LRUCache<string, LookupAddress[]> {
    return new LRUCache<string, LookupAddress[]>({
      max: MAX_HOSTS,
      ttl: MIN_TTL_MS,
      ttlResolution: 0,
      perf: { now: this.#options.clock.now },
      // One that made room while it was looked up is answered nonetheless.
      ignoreFetchAbort: true,
      fetchMethod: async (host, _, { options }) => {
        const records = await this.#ask(host);
        options.ttl = Math.min(Math.max(ttlMs(records), MIN_TTL_MS), MAX_TTL_MS);
        return records.map(({ address, family }) => ({ address, family }));
      },
    });
  }

  /** An error of one name server ends the search to c-ares, with Node's flags. Others may know better: they are asked, as the system's resolver does. */
  async #search(host: string): Promise<AddressRecord[]> {
    try {
      return await this.#searchBy(this.#resolver, host);
    } catch (error) {
      if (!isUnanswered(error) || this.#names.servers.length < 2) throw error;
      const resolvers = this.#openEach();
      try {
        return await Promise.any(resolvers.map((resolver) => this.#searchBy(resolver, host)));
      } catch (all) {
        throw all instanceof AggregateError ? (all.errors.find((each) => !isUnanswered(each)) ?? error) : all;
      } finally {
        for (const resolver of resolvers) resolver.cancel();
      }
    }
  }

  #searchBy(resolver: Resolver, host: string): Promise<AddressRecord[]> {
    return findAddresses({ resolver, host, names: this.#namesToAsk(host), clock: this.#options.clock });
  }

  #namesToAsk(host: string): string[] {
    const { searches = false } = this.#options;
    return namesToAsk(host, searches ? this.#names : { ...this.#names, search: [] });
  }

  /** The addresses, or why there are none; that the name servers are away, where they are. */
  async #ask(host: string): Promise<AddressRecord[]> {
    const servers = this.#nameServers;
    const patience = Promise.withResolvers<never>();
    using _timer = this.#options.clock.after(PATIENCE_MS, () => {
      servers.assertAnswering().catch(patience.reject);
    });
    const [name = host] = this.#namesToAsk(host);
    try {
      const records = await Promise.race([this.#search(host), patience.promise]);
      servers.answered(name);
      return records;
    } catch (error) {
      if (!(error instanceof UnresolvedHost)) throw error;
      if (!isAnswer(error.cause)) await servers.assertAnswering();
      // c-ares says that by itself.
      else if (codeOf(error.cause) !== 'EBADNAME') servers.answered(name);
      throw error;
    }
  }
}

export type ResolveOptions = Omit<NamesOptions, 'readNames'> & {
  names: Omit<SystemNames, 'servers'>;
  /** Servers to ask, `address:port`. */
  servers: string[];
};

/** Looks hosts up with what is told once and for all. */
export function resolverOf({ names, servers, ...options }: ResolveOptions): ResolveHost {
  const told = { ...names, servers };
  return new Names({ ...options, readNames: () => told }).resolveHost;
}

/** Names as this machine has them. */
export function systemNames(options: Omit<NamesOptions, 'readNames'>): Names {
  return new Names({ ...options, readNames: followSystemNames() });
}

const isUnanswered = (error: unknown): boolean => error instanceof UnresolvedHost && !isAnswer(error.cause);

const ttlMs = (records: AddressRecord[]): number => Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
