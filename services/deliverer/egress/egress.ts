import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { FEWEST, isNamed, Receivers, tallyOf, WELL_MS, type Tally } from './receivers.ts';

/** Whether a connection could be made, and the address it was to lead to, where that is known. */
export type ReachResult = { isReached: boolean; address?: string };

/** Connects to an origin. Never rejects. */
export type Reach = (origin: string) => Promise<ReachResult>;

export type EgressOptions = {
  reach: Reach;
  /** Origins to connect to instead of receivers. */
  probes: readonly string[];
  /** Finds origins of receivers that answered within the hour, for a process that has not called any yet. */
  recentlyWell: () => Promise<readonly string[]>;
  clock: Clock;
  log: Log;
};

/** An attempt without an answer; `startedAt` by the clock. */
export type FailedAttempt = {
  origin: string;
  /** The address it was sent to; undefined where the name did not resolve, or led where callbacks never go. */
  address: string | undefined;
  startedAt: number;
  wasSent: boolean;
  isLast: boolean;
  /** It was parked before for a fault of our own: a request that was sent is not made a third time. */
  wasHeld: boolean;
};

/** Receivers that are asked, or counted, at most. */
const MOST = 8;
/** What happened longer ago says nothing about now. */
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
  /** The suspicion began with names that did not resolve, or led elsewhere. */
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

  /** A receiver answered, with any status. */
  answered(origin: string, address: string | undefined): void {
    this.#receivers.reached(origin, address, this.#now);
  }

  /** Whether the failure is our own fault. */
  async isOurs({ origin, address, startedAt, wasSent, isLast, wasHeld }: FailedAttempt): Promise<boolean> {
    if (wasSent && (!isLast || wasHeld)) return false;
    if (!wasSent) this.#receivers.lost(origin, this.#now);
    if (this.isSuspected) return true;
    const freshAt = this.#now - FRESH_MS;
    const meanwhile = this.#heardSince(Math.max(startedAt, freshAt), origin);
    // Others may answer at addresses that were looked up before: only new look-ups tell whether names lead astray.
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

  /** Counts other receivers; undefined where they are too few. */
  #heardSince(at: number, but: string): Tally | undefined {
    const tally = this.#receivers.heardSince(at, but, MOST);
    return tally.reached + tally.lost < FEWEST ? undefined : tally;
  }

  /** Whether our network is lost, found out after `at` and lately; at most once a second, for all callers. */
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
    this.#round = { beganAt: this.#now, isLost: this.#look() };
    return this.#round.isLost;
  }

  async #look(): Promise<boolean> {
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

  /** Whether enough receivers were reached by requests. Where names lead, only probes and new look-ups tell. */
  #isAnswered(): boolean {
    const { probes } = this.#options;
    if (this.#areNamesAstray && !(probes.length > 0 && probes.every(isNamed))) return false;
    const { reached, lost } = this.#receivers.heardSince(this.#now - FRESH_MS, '', MOST);
    return reached >= FEWEST && reached >= lost;
  }

  /** Connects to the probes, or to receivers that answered lately; to both where a probe is a literal address. */
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

  /** Whether the name does not resolve, or leads elsewhere than when its receiver answered. */
  #isAstray(origin: string, address: string | undefined): boolean {
    return address === undefined || this.#receivers.isElsewhere(origin, address);
  }

  /** Forgets receivers that cannot be reached for long while others can: they are away themselves. */
  #leaveOut(lost: readonly string[]): void {
    if (this.#suspectedAt === undefined || this.#now - this.#suspectedAt < WELL_MS) return;
    for (const origin of lost) this.#receivers.forget(origin);
  }

  async #someReceivers(): Promise<string[]> {
    const some = () => this.#receivers.some(this.#suspectedAt ?? this.#now, MOST);
    const known = some();
    if (known.filter(isNamed).length >= FEWEST || this.#now - this.#recalledAt < RECALL_MS) return known;
    this.#recalledAt = this.#now;
    try {
      for (const origin of await this.#options.recentlyWell()) this.#receivers.remember(origin, this.#now);
    } catch {
      // Postgres is away, too.
    }
    return some();
  }
}

/** False where there is no tally: nothing can be told then. */
function isLostBy(tally: Tally | undefined): tally is Tally {
  return tally !== undefined && tally.lost > tally.reached;
}
