import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { types } from 'node:util';
import { codeOf, withCauses } from '@waybell/runtime/error-codes';

/** Whether a connection was made, and its address if known. */
type ReachResult = { isReached: boolean; address?: string };

/** Connects to an origin. Never rejects. */
export type Reach = (origin: string) => Promise<ReachResult>;

export type EgressOptions = {
  reach: Reach;
  /** Origins to probe instead of receivers. */
  probes: readonly string[];
  /** Finds origins of receivers that answered within the hour, for a process that has not called any yet. */
  recentlyWell: () => Promise<readonly string[]>;
  clock: Clock;
  log: Log;
};

/** An attempt without an answer; `startedAt` by the clock. */
export type FailedAttempt = {
  origin: string;
  /** The address it was sent to; undefined if the name did not resolve, or resolved to an address that callbacks never use. */
  address: string | undefined;
  startedAt: number;
  wasSent: boolean;
  isLast: boolean;
  /** Whether it waited before because of a fault of our own. A request that was sent is not made a third time. */
  hasWaited: boolean;
};

/** Limit of the receivers probed or counted. */
const MOST_COUNTED = 8;
/** Older events are too old to judge the present. */
const FRESH_MS = 2_000;
const ROUND_MS = 1_000;
const LONGEST_ROUND_MS = 5_000;
const RECALL_MS = 60_000;

/**
 * Judges whether an attempt failed for its receiver or for our own network. While most receivers that answered lately still
 * answer, it is the receiver. Before a failure that may be a delivery's last, connects to other receivers; while most of
 * them cannot be reached, no failure to connect counts against a receiver. See docs/decisions/0005-callbacks.md.
 */
export class Egress implements Disposable {
  readonly #options: EgressOptions;
  readonly #receivers = new Receivers();
  readonly #closing = new AbortController();
  #suspectedAt: number | undefined;
  /** The suspicion began with names that did not resolve, or that resolved to other addresses than before. */
  #areNamesAstray = false;
  #round: { beganAt: number; isLost: Promise<boolean> } | undefined;
  #next: Promise<boolean> | undefined;
  #recalledAt = -Infinity;

  constructor(options: EgressOptions) {
    this.#options = options;
  }

  get isSuspected(): boolean {
    return this.#suspectedAt !== undefined;
  }

  /** Notes that a receiver answered, with any status. */
  answered(origin: string, address: string | undefined): void {
    this.#receivers.reached(origin, address, this.#now);
  }

  /** Returns whether the failure is our own fault. */
  async isOurs({ origin, address, startedAt, wasSent, isLast, hasWaited }: FailedAttempt): Promise<boolean> {
    if (wasSent && (!isLast || hasWaited)) return false;
    if (!wasSent) this.#receivers.lost(origin, this.#now);
    if (this.isSuspected) return true;
    const freshAt = this.#now - FRESH_MS;
    const meanwhile = this.#heardSince(Math.max(startedAt, freshAt), origin);
    // Other receivers may have answered at addresses resolved earlier: only new look-ups show that names resolve wrongly.
    const isAstray = this.#isAstray(origin, address);
    if (meanwhile !== undefined && !isLostBy(meanwhile) && !isAstray) return false;
    if (!isLast && !isLostBy(this.#heardSince(freshAt, origin))) return false;
    const isLost = await this.#roundAfter(startedAt);
    this.#areNamesAstray ||= isLost && isAstray;
    return isLost;
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** Counts other receivers with news since then; undefined if they are too few. */
  #heardSince(at: number, but: string): Tally | undefined {
    const tally = this.#receivers.heardSince(at, but, MOST_COUNTED);
    return tally.reached + tally.lost < FEWEST ? undefined : tally;
  }

  /**
   * Returns whether our network is lost, by a recent check that began after `at`. Checks at most once a second, for all callers.
   */
  #roundAfter(at: number): Promise<boolean> {
    const freshAt = Math.max(at, this.#now - FRESH_MS);
    if (this.#round !== undefined && this.#round.beganAt >= freshAt) return this.#round.isLost;
    this.#next ??= this.#nextRound();
    return this.#next;
  }

  async #nextRound(): Promise<boolean> {
    const { clock } = this.#options;
    const last = this.#round;
    await last?.isLost;
    if (last !== undefined) await clock.sleep(Math.max(0, last.beganAt + ROUND_MS - this.#now), this.#closing.signal);
    this.#next = undefined;
    this.#round = { beganAt: this.#now, isLost: this.#check() };
    return this.#round.isLost;
  }

  async #check(): Promise<boolean> {
    const tally = await this.#ask();
    if (!isLostBy(tally)) return false;
    if (this.isSuspected) return true;
    this.#suspectedAt = this.#now;
    this.#options.log.warn(tally, 'egress.suspected');
    void this.#untilBack(this.#suspectedAt);
    return true;
  }

  async #untilBack(since: number): Promise<void> {
    const { clock, log } = this.#options;
    for (let pauseMs = ROUND_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_ROUND_MS)) {
      await clock.sleep(pauseMs, this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      if (!isLostBy(await this.#ask()) || this.#isAnswered()) break;
    }
    this.#suspectedAt = undefined;
    this.#areNamesAstray = false;
    log.info({ awayMs: Math.round(this.#now - since) }, 'egress.back');
  }

  /** Whether requests reached enough receivers. Only probes and new look-ups show how names resolve. */
  #isAnswered(): boolean {
    const { probes } = this.#options;
    if (this.#areNamesAstray && !(probes.length > 0 && probes.every(isNamed))) return false;
    const { reached, lost } = this.#receivers.heardSince(this.#now - FRESH_MS, '', MOST_COUNTED);
    return reached >= FEWEST && reached >= lost;
  }

  /** Connects to the probes, or to receivers that answered recently; to both if a probe is a literal address. */
  async #ask(): Promise<Tally | undefined> {
    const { probes, reach } = this.#options;
    if (probes.length === 0) return this.#askReceivers(({ isReached }) => isReached);
    const heard = new Map<string, boolean>();
    await Promise.all(
      probes.map(async (probe) => {
        const { isReached: isWell, address = probe } = await reach(probe);
        heard.set(address, isWell || heard.get(address) === true);
      }),
    );
    const tally = tallyOf(heard);
    if (isLostBy(tally) || probes.every(isNamed)) return tally;
    const names = await this.#askReceivers(
      ({ isReached, address }, origin) => isReached || !this.#isAstray(origin, address),
    );
    return isLostBy(names) ? names : tally;
  }

  async #askReceivers(isWell: (reached: ReachResult, origin: string) => boolean): Promise<Tally | undefined> {
    const origins = await this.#someReceivers();
    const heard = new Map<string, boolean>();
    const lost: string[] = [];
    await Promise.all(
      origins.map(async (origin) => {
        const reached = await this.#options.reach(origin);
        const address =
          (reached.isReached ? undefined : this.#receivers.addressOf(origin)) ?? reached.address ?? origin;
        const isReached = isWell(reached, origin);
        if (reached.isReached) this.#receivers.reached(origin, address, this.#now);
        heard.set(address, isReached || heard.get(address) === true);
        if (!isReached) lost.push(origin);
      }),
    );
    if (lost.length < origins.length) this.#leaveOut(lost);
    return heard.size < FEWEST ? undefined : tallyOf(heard);
  }

  /** Whether the name does not resolve, or resolves to another address than when its receiver answered. */
  #isAstray(origin: string, address: string | undefined): boolean {
    return address === undefined || this.#receivers.isAtOtherAddress(origin, address);
  }

  /** Forgets receivers that stay unreachable while others can be reached: they themselves are away. */
  #leaveOut(lost: readonly string[]): void {
    if (this.#suspectedAt === undefined || this.#now - this.#suspectedAt < WELL_MS) return;
    for (const origin of lost) this.#receivers.forget(origin);
  }

  async #someReceivers(): Promise<string[]> {
    const some = () => this.#receivers.some(this.#suspectedAt ?? this.#now, MOST_COUNTED);
    const known = some();
    if (known.filter(isNamed).length >= FEWEST || this.#now - this.#recalledAt < RECALL_MS) return known;
    this.#recalledAt = this.#now;
    try {
      for (const origin of await this.#options.recentlyWell()) this.#receivers.remember(origin, this.#now);
    } catch {
      // Postgres is away too.
    }
    return some();
  }
}

/** False without a tally: then nothing is known. */
function isLostBy(tally: Tally | undefined): tally is Tally {
  return tally !== undefined && tally.lost > tally.reached;
}

/** A receiver's origin; times are milliseconds of the clock. */
type KnownReceiver = { address: string | undefined; wellAt: number; isReached: boolean; heardAt: number };

/** Number of receivers reached and not reached, counting each address once. */
type Tally = { reached: number; lost: number };

const MOST_KNOWN = 2_000;
/** With fewer receivers, each at another address, nothing is known about our own network. */
const FEWEST = 4;
/** A receiver whose last answer is older may be away for its own reasons. */
const WELL_MS = 600_000;
const NEVER = -Infinity;

/** Receivers that answered recently, and whether they can be reached now. Those at one address count as one. */
class Receivers {
  // Most recent first.
  readonly #known = new LRUCache<string, KnownReceiver>({ max: MOST_KNOWN });

  reached(origin: string, address: string | undefined, at: number): void {
    const known = this.#known.get(origin);
    if (known === undefined) {
      this.#known.set(origin, { address, wellAt: at, isReached: true, heardAt: at });
      return;
    }
    known.address = address;
    known.wellAt = at;
    known.isReached = true;
    known.heardAt = at;
  }

  /** Adds a receiver that answered another process recently. */
  remember(origin: string, at: number): void {
    if (!this.#known.has(origin)) {
      this.#known.set(origin, { address: undefined, wellAt: at, isReached: true, heardAt: NEVER });
    }
  }

  /** Notes that a connection to the receiver failed. Ignores receivers that did not answer recently: that says nothing. */
  lost(origin: string, at: number): void {
    const known = this.#known.peek(origin);
    if (known === undefined || at - known.wellAt > WELL_MS) return;
    this.#known.set(origin, { ...known, isReached: false, heardAt: at });
  }

  /** Returns its address when it last answered. */
  addressOf(origin: string): string | undefined {
    return this.#known.peek(origin)?.address;
  }

  /** Whether it last answered at another address. */
  isAtOtherAddress(origin: string, address: string): boolean {
    return (this.addressOf(origin) ?? address) !== address;
  }

  forget(origin: string): void {
    this.#known.delete(origin);
  }

  /** Counts the most recent receivers with news since `at`, without `but`. */
  heardSince(at: number, but: string, most: number): Tally {
    const own = this.#known.peek(but)?.address;
    const heard = new Map<string, boolean>();
    for (const [origin, { address = origin, isReached, heardAt }] of this.#known.entries()) {
      if (heardAt === NEVER) continue;
      if (heardAt < at || heard.size === most) break;
      if (origin !== but && address !== own && !heard.has(address)) heard.set(address, isReached);
    }
    return tallyOf(heard);
  }

  /** Returns random origins, at different addresses, that answered shortly before `before`; only names, if they suffice. */
  some(before: number, most: number): string[] {
    const byAddress = new Map<string, string>();
    const namedByAddress = new Map<string, string>();
    for (const [origin, { address = origin, wellAt }] of this.#known.entries()) {
      if (before - wellAt > WELL_MS) continue;
      byAddress.set(address, origin);
      if (isNamed(origin)) namedByAddress.set(address, origin);
    }
    const origins = [...(namedByAddress.size < FEWEST ? byAddress : namedByAddress).values()];
    while (origins.length > most) origins.splice(Math.floor(Math.random() * origins.length), 1);
    return origins;
  }
}

/** Whether the origin has a name. Reaching a literal address says nothing about how names resolve. */
function isNamed(origin: string): boolean {
  const { hostname = '' } = URL.parse(origin) ?? {};
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0;
}

/** Counts the addresses that were reached, and those that were not. */
function tallyOf(heard: ReadonlyMap<string, boolean>): Tally {
  const reached = [...heard.values()].filter(Boolean).length;
  return { reached, lost: heard.size - reached };
}

export function watchEgress(egress: Pick<Egress, 'isSuspected'>, metrics: Metrics): void {
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_egress_suspected',
      help: '1 while most receivers cannot be connected to',
    },
    () => [{ value: egress.isSuspected ? 1 : 0 }],
  );
}

/**
 * Errors that only this machine causes: no name server, buffer or memory, an interface that is down, a local firewall rule.
 */
const OWN = new Set(['NAME_SERVERS_AWAY', 'ENETDOWN', 'EPERM', 'EACCES', 'ENOBUFS', 'ENOMEM']);

/**
 * Whether a connection failed for a fault of this machine, independent of the receiver. If the host has several addresses, every
 * address that this machine could have a route to must have failed so.
 */
export async function isOwnFault(thrown: unknown, routes: OwnRoutes): Promise<boolean> {
  if (thrown instanceof AggregateError) {
    const tried = thrown.errors.filter((each) => !isOfOtherFamily(each, routes));
    const areOwn = await Promise.all(tried.map((each) => isOwnFault(each, routes)));
    return areOwn.length > 0 && areOwn.every(Boolean);
  }
  for (const each of withCauses(thrown)) if (await isOwn(each, routes)) return true;
  return false;
}

const NO_FAMILY = new Set(['EADDRNOTAVAIL', 'ENETUNREACH']);

/** Whether this machine never had addresses of that family, as with IPv6 off. Such an address says nothing. */
function isOfOtherFamily(error: unknown, routes: OwnRoutes): boolean {
  if (!(error instanceof Error) || !NO_FAMILY.has(codeOf(error))) return false;
  const address = addressOf(error);
  return address !== undefined && !routes.hadAny(address);
}

async function isOwn(error: Error, routes: OwnRoutes): Promise<boolean> {
  const [code, address] = [codeOf(error), addressOf(error)];
  if (OWN.has(code)) return true;
  if (address === undefined) return false;
  // No local port is left for the address; if its family is off, there never was one.
  if (code === 'EADDRNOTAVAIL') return routes.hadAny(address);
  // A remote router reports the same about a receiver's network.
  return code === 'ENETUNREACH' && (await routes.isLost(address));
}

function addressOf(error: Error): string | undefined {
  return types.isNativeError(error) && 'address' in error && typeof error.address === 'string'
    ? error.address
    : undefined;
}

/** Tracks which address families this machine has a route for. */
export type OwnRoutes = {
  /** Notes a connection to the address. */
  reached(address: string): void;
  /** Returns whether the address's family had a route, and the address has none now. */
  isLost(address: string): Promise<boolean>;
  /** Whether there ever was a route for the address's family. */
  hadAny(address: string): boolean;
};

/** Addresses of the networks for documentation: a route to them is a default route. */
const ANYWHERE = ['192.0.2.1', '2001:db8::1'];
const NO_ROUTE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'ENETDOWN', 'EAFNOSUPPORT']);
/** The discard port. Nothing is sent there. */
const PORT = 9;

export function watchOwnRoutes(): OwnRoutes {
  const families = new Set<number>();
  const learn = async (address: string) => void ((await hasRoute(address)) && families.add(isIP(address)));
  for (const address of ANYWHERE) void learn(address);
  return {
    reached: (address) => void (families.size < 2 && families.add(isIP(address))),
    isLost: async (address) => families.has(isIP(address)) && !(await hasRoute(address)),
    hadAny: (address) => families.has(isIP(address)),
  };
}

/** Connecting a UDP socket sends nothing, but needs a route. */
async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(PORT, address);
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return !NO_ROUTE.has(codeOf(error));
  } finally {
    socket.close();
  }
}
