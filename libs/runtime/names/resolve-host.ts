/** Looks hosts up, as this machine's hosts file and resolv.conf say, without the system's threads. */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { codeOf } from '../error-codes.ts';
import type { Log } from '../log.ts';
import { findAddresses, isAnswer, NameServers, UnresolvedHost, type AddressRecord } from './name-servers.ts';

/** Returns the addresses of a host, at least one. Throws `UnresolvedHost`, or `NameServersAway` if no name could be resolved. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

/**
 * The name configuration of a machine: hosts(5), by lower-case names without a final dot; and from resolv.conf(5) the name
 * servers, the search list and `ndots`.
 */
export type SystemNames = {
  hosts: ReadonlyMap<string, LookupAddress[]>;
  servers: readonly string[];
  search: readonly string[];
  ndots: number;
};

type NamesOptions = {
  /** Returns the machine's name configuration: the same object until it changes. */
  readNames: () => SystemNames;
  clock: Clock;
  log?: Pick<Log, 'info' | 'warn'>;
  /** Whether names without a dot go through the search list. Default: no, as the list may lead to a stranger. */
  searches?: boolean;
  /** Limit of a name server's answer, for each try. */
  tryMs?: number;
};

const MAX_HOSTS = 10_000;
const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
const TRY_MS = 1_000;
const TRIES = 3;
/** Interval of checks for a changed configuration, while names are looked up. */
const CHECK_INTERVAL_MS = 5_000;
/** Less than half of the least limit of a request: checking the name servers comes after it. */
const PATIENCE_MS = 1_000;

/**
 * Looks hosts up in the system's order, hosts file and then DNS, but without the system's threads: getaddrinfo runs on only two
 * of them, so two names whose servers do not answer would keep all others from connecting. Caches an answer for its TTL, but at
 * least a second and at most five minutes; does not cache that there is none. Follows changes of the machine's name
 * configuration.
 */
export class Names {
  readonly #options: NamesOptions;
  readonly #nameServers: NameServers;
  #names: SystemNames;
  #resolver: Resolver;
  #known: LRUCache<string, LookupAddress[]>;
  #checkedAt: number;

  constructor(options: NamesOptions) {
    const { readNames, clock, log } = options;
    this.#options = options;
    this.#names = readNames();
    this.#checkedAt = clock.now();
    this.#resolver = this.#openResolver();
    this.#known = this.#openMemory();
    this.#nameServers = new NameServers({
      areNamed: () => this.#names.servers.length > 0,
      openResolvers: () => this.#openEach(),
      onSilence: () => {
        this.#check();
        // The old resolver's sockets may belong to a network that this machine has left.
        this.#resolver = this.#openResolver();
      },
      clock,
      log,
    });
  }

  readonly resolveHost: ResolveHost = async (host) => this.#inHosts(host) ?? this.#known.forceFetch(host);

  /** Like `resolveHost`, but neither uses the cache nor fills it. */
  readonly resolveAfresh: ResolveHost = async (host) => this.#inHosts(host) ?? this.#ask(host);

  /** Lists the name servers while they do not answer. */
  readonly waitingFor = (): string[] => this.#nameServers.waitingFor();

  #inHosts(host: string): LookupAddress[] | undefined {
    if (this.#options.clock.now() - this.#checkedAt >= CHECK_INTERVAL_MS) this.#check();
    return this.#names.hosts.get(withoutRootDot(host).toLowerCase());
  }

  #check(): void {
    const { readNames, clock, log } = this.#options;
    this.#checkedAt = clock.now();
    const names = readNames();
    if (names === this.#names) return;
    this.#names = names;
    this.#resolver = this.#openResolver();
    // Other name servers may give other answers.
    this.#known = this.#openMemory();
    log?.info({ servers: this.#resolver.getServers() }, 'name-servers.changed');
    this.#nameServers.changed();
  }

  #openResolver(servers: readonly string[] = this.#names.servers, tries = TRIES): Resolver {
    const { tryMs = TRY_MS } = this.#options;
    const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries });
    // Node would drop the zone of an address; c-ares itself reads it from resolv.conf.
    if (servers.length > 0 && !servers.some((server) => server.includes('%'))) resolver.setServers(servers);
    return resolver;
  }

  /** Opens one for each name server, if they can be distinguished. */
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
      // An entry evicted during its look-up is still returned.
      ignoreFetchAbort: true,
      fetchMethod: async (host, _, { options }) => {
        const records = await this.#ask(host);
        options.ttl = Math.min(Math.max(ttlMs(records), MIN_TTL_MS), MAX_TTL_MS);
        return records.map(({ address, family }) => ({ address, family }));
      },
    });
  }

  /**
   * With Node's flags, c-ares ends a search at the error of one name server. So asks the others too, as the system's resolver
   * does.
   */
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

  /** Returns the addresses. Throws why there are none, or that the name servers are away. */
  async #ask(host: string): Promise<AddressRecord[]> {
    const servers = this.#nameServers;
    const answering = Promise.withResolvers<never>();
    using _timer = this.#options.clock.after(PATIENCE_MS, () => {
      servers.assertAnswering().catch(answering.reject);
    });
    const [name = host] = this.#namesToAsk(host);
    try {
      const records = await Promise.race([this.#search(host), answering.promise]);
      servers.answered(name);
      return records;
    } catch (error) {
      if (!(error instanceof UnresolvedHost)) throw error;
      if (!isAnswer(error.cause)) await servers.assertAnswering();
      // c-ares itself gives this answer.
      else if (codeOf(error.cause) !== 'EBADNAME') servers.answered(name);
      throw error;
    }
  }
}

const isUnanswered = (error: unknown): boolean => error instanceof UnresolvedHost && !isAnswer(error.cause);

const ttlMs = (records: AddressRecord[]): number => Math.min(...records.map(({ ttl }) => ttl)) * 1_000;

/** Removes the final dot of an absolute name, or several by mistake. */
export function withoutRootDot(host: string): string {
  let end = host.length;
  while (host[end - 1] === '.') end -= 1;
  return host.slice(0, end);
}

/** Looks hosts up with this machine's configuration. */
export function systemNames(options: Omit<NamesOptions, 'readNames'>): Names {
  return new Names({ ...options, readNames: followSystemNames() });
}

type ResolveOptions = Omit<NamesOptions, 'readNames'> & {
  names: Omit<SystemNames, 'servers'>;
  /** Servers to ask, `address:port`. */
  servers: string[];
};

/** Looks hosts up with a fixed configuration. */
export function resolverOf({ names, servers, ...options }: ResolveOptions): ResolveHost {
  const fixed = { ...names, servers };
  return new Names({ ...options, readNames: () => fixed }).resolveHost;
}

type Files = { hosts: string; resolvConf: string };
const FILES: Files = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };

/**
 * Returns a function that reads the name configuration, and returns the same object while it is unchanged. Reads both files
 * whole: a file that is replaced, mounted or linked shows no other change on every system. A file that is empty, unreadable or no
 * longer names a server is just being written: its previous content counts.
 */
export function followSystemNames(files: Files = FILES): () => SystemNames {
  let texts = { hosts: '', resolvConf: '' };
  let names = parse(texts);
  return () => {
    const read = {
      hosts: textOf(files.hosts) || texts.hosts,
      resolvConf: textOf(files.resolvConf) || texts.resolvConf,
    };
    if (read.hosts === texts.hosts && read.resolvConf === texts.resolvConf) return names;
    const { hosts, ...next } = parse(read);
    const isWhole = next.servers.length > 0 || names.servers.length === 0;
    names = { ...(isWhole ? next : names), hosts };
    texts = read;
    return names;
  };
}

const parse = ({ hosts, resolvConf }: Files): SystemNames => ({
  hosts: readHosts(hosts),
  ...readResolvConf(resolvConf),
});

export function readHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of wordsByLine(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((each) => withoutRootDot(each.toLowerCase()))) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** The last `search` or `domain` line counts. */
export function readResolvConf(text: string): Omit<SystemNames, 'hosts'> {
  const servers: string[] = [];
  let search: string[] = [];
  let ndots = 1;
  for (const [keyword, ...words] of wordsByLine(text)) {
    const [first = ''] = words;
    if (keyword === 'nameserver' && isIP(first) !== 0) servers.push(first);
    if (keyword === 'search' || keyword === 'domain') search = words.map(withoutRootDot).filter(Boolean);
    const found = keyword === 'options' ? words.findLast((word) => /^ndots:\d+$/.test(word)) : undefined;
    if (found !== undefined) ndots = Number(found.slice('ndots:'.length));
  }
  return { servers, search, ndots };
}

/**
 * Returns the names to ask DNS for, in order. A name with a dot in it, or at its end, is absolute: through the search list,
 * whoever has a name below one of its domains would get the requests. Other names go through the list as resolv.conf(5) says.
 */
export function namesToAsk(host: string, { search, ndots }: Pick<SystemNames, 'search' | 'ndots'>): string[] {
  const name = withoutRootDot(host);
  if (host.includes('.')) return [name];
  const searched = search.map((domain) => `${name}.${domain}`);
  return ndots === 0 ? [name, ...searched] : [...searched, name];
}

function wordsByLine(text: string): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .split(/\s+/)
      .filter(Boolean),
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
