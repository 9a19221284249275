import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { FEWEST, isNamed, Receivers, tallyOf, WELL_MS, type Tally } from './receivers.ts';

/** Whether a connection could be made, and the address it was to lead to, where that is known. */
export type ReachResult = { isReached: boolean; address?: string };

/** Connects to an origin. Never rejects. */
export type Reach = (origin: string) => Promise<ReachResult>;

export type EgressOptions = {
  reach: Reach;
  /** Origins that are asked instead of receivers. */
  probes: readonly string[];
  /** Origins of receivers that answered within the hour, for a process that has not met any yet. */
  recentlyWell: () => Promise<readonly string[]>;
  clock: Clock;
  log: Log;
};

/** An attempt that ended without an answer; when it began, by the clock. */
export type FailedAttempt = {
  origin: string;
  /** Where it was to lead; undefined where its name led nowhere, or where callbacks never go. */
  address: string | undefined;
  startedAt: number;
  wasSent: boolean;
  isLast: boolean;
  /** It was held for our own network before: what was sent is not made a third time. */
  wasHeld: boolean;
};

/** As many are asked, or heard, at most. */
const MOST = 8;
/** What was heard longer ago says nothing about now. */
const FRESH_MS = 2_000;
const ROUND_MS = 1_000;
const LONGEST_ROUND_MS = 5_000;
const RECALL_MS = 60_000;

/**
 * Finds out whether an attempt failed for its receiver or for our own way out. While most of the receivers that answered
 * lately answer, it is the receiver. Before a failure may be the last, others are asked; while most of them cannot be
 * reached, no failure to connect is a receiver's. See docs/decisions/0005-callbacks.md.
 */
export class Egress implements Disposable {
  readonly #options: EgressOptions;
  readonly #receivers = new Receivers();
  readonly #closing = new AbortController();
  #suspectedAt: number | undefined;
  /** What is suspected began with names that led nowhere, or elsewhere. */
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

  /** It answered, whatever it said. */
  answered(origin: string, address: string | undefined): void {
    this.#receivers.reached(origin, address, this.#now);
  }

  /** Whether it is no receiver's fault. */
  async isOurs({ origin, address, startedAt, wasSent, isLast, wasHeld }: FailedAttempt): Promise<boolean> {
    if (wasSent && (!isLast || wasHeld)) return false;
    if (!wasSent) this.#receivers.lost(origin, this.#now);
    if (this.isSuspected) return true;
    const freshAt = this.#now - FRESH_MS;
    const meanwhile = this.#heardSince(Math.max(startedAt, freshAt), origin);
    // Others that answer may do so where their names led before: whether names lead astray, only new look-ups tell.
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

  /** The tally of other receivers; undefined where they are too few. */
  #heardSince(at: number, but: string): Tally | undefined {
    const tally = this.#receivers.heardSince(at, but, MOST);
    return tally.reached + tally.lost < FEWEST ? undefined : tally;
  }

  /** Whether our way out is lost, asked after that and of late; at most once a second, for all callers. */
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

  /** Whether enough others were reached, whatever those say that are asked. Where names lead, only probes and new look-ups tell. */
  #isAnswered(): boolean {
    const { probes } = this.#options;
    if (this.#areNamesAstray && !(probes.length > 0 && probes.every(isNamed))) return false;
    const { reached, lost } = this.#receivers.heardSince(this.#now - FRESH_MS, '', MOST);
    return reached >= FEWEST && reached >= lost;
  }

  /** Connects to the probes, or to some receivers that were well before; to these as well where probes tell nothing of names. */
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

  /** Whether its name leads nowhere, or elsewhere than when it was well. */
  #isAstray(origin: string, address: string | undefined): boolean {
    return address === undefined || this.#receivers.isElsewhere(origin, address);
  }

  /** Those that cannot be reached for long, while others can, are not asked any more: they are away themselves. */
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
      // Postgres is away, too: then nothing is known.
    }
    return some();
  }
}

/** Undefined: it cannot be told. */
function isLostBy(tally: Tally | undefined): tally is Tally {
  return tally !== undefined && tally.lost > tally.reached;
}
