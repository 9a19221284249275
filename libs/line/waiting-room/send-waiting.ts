import { type Clock, type Timer, withTimeout } from '@waybell/runtime/clock';
import { throttledWarning, type Log } from '@waybell/runtime/log';
import type { Broker } from '../broker.ts';
import { joinDeliveries, type Joined } from '../delivery-batch.ts';
import { Unroutable } from '../messages.ts';
import {
  MOST_BYTES,
  MOST_ROWS,
  RENEW_MS,
  type TakenRow,
  type WaitingStore,
  CLAIM_MS,
  type Released,
  type RowKey,
} from './waiting-store.ts';

type SendWaitingOptions = {
  store: Pick<WaitingStore, 'claim' | 'renew' | 'take' | 'settle' | 'postpone' | 'release'>;
  broker: Pick<Broker, 'publish' | 'state' | 'onState'>;
  onTaken: (rows: readonly TakenRow[]) => void;
  onSettled: (rows: readonly TakenRow[]) => void;
  log: Pick<Log, 'warn'>;
  clock: Clock;
};

type FailedRows = { failed: readonly TakenRow[]; of: number; reason: unknown };

/** Bodies under way, at which no more are taken, except a first one from each destination. */
const MOST_BYTES_UNDER_WAY = 2 ** 22;
/** Limits of the time until a destination is tried again. */
const SOONEST_MS = 1_000;
const LATEST_MS = 15_000;
/** Looks within a tick of each other are one; those that are later than this are left to the next regular one. */
const TICK_MS = 250;
const LATEST_LOOK_MS = 2 * LATEST_MS;
/** Limits on disposal: for confirms that are still to come, and for all of it. */
const CONFIRM_LIMIT_MS = 2_000;
const CLOSE_LIMIT_MS = 4_000;

/**
 * Publishes waiting publications while the broker takes them. Asks each destination with one first, and then publishes one group for
 * each at a time, so that one which does not confirm blocks no other. Rows that were confirmed and not settled are published again.
 */
export class SendWaiting implements AsyncDisposable {
  readonly #options: SendWaitingOptions;
  readonly #claimed: ClaimedDestinations;
  readonly #warn: (error: unknown) => void;
  readonly #warnings = new Map<string, (error: unknown) => void>();
  readonly #looks = new Set<number>();
  /** Confirmed, and not settled yet; failed, and not postponed yet. */
  #sent: TakenRow[] = [];
  #postponed: { rows: readonly TakenRow[]; afterMs: number }[] = [];
  #renewing: Timer | undefined;
  #mayClaim = false;
  #isAnyDue = false;
  #isDue = false;
  #going: Promise<void> | undefined;
  #isClosing = false;

  constructor(options: SendWaitingOptions) {
    const { store, broker, log, clock } = options;
    this.#options = options;
    this.#claimed = new ClaimedDestinations(store, clock);
    this.#warn = throttledWarning(log, 'publications.postgres-away', clock);
    broker.onState((state) => {
      if (state !== 'writable') return;
      this.#isAnyDue = true;
      void this.look();
    });
  }

  figures(): { claimed: number; shut: number } {
    return this.#claimed.figures();
  }

  /** Claims destinations that no process has, and begins to send their rows. Never rejects. */
  look(): Promise<void> {
    this.#mayClaim = true;
    return this.#go();
  }

  /**
   * Looks for a row that was just put, once it is due, if the broker takes publishes: otherwise all rows are read when it does.
   */
  wasPut(afterMs: number): void {
    if (this.#options.broker.state() === 'writable') this.#lookIn(Math.max(SOONEST_MS, afterMs));
  }

  /** Ends within the limit even if a server hangs: publications under way are then repeated when their claim runs out. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#renewing?.[Symbol.dispose]();
    await withTimeout({ clock: this.#options.clock, limitMs: CLOSE_LIMIT_MS }, this.#close());
  }

  async #close(): Promise<void> {
    const { clock, broker } = this.#options;
    await this.#going;
    const done = Promise.all(
      this.#claimed.all.flatMap(({ underWay }) => (underWay === undefined ? [] : [underWay.done])),
    );
    if (broker.state() === 'writable') await withTimeout({ clock, limitMs: CONFIRM_LIMIT_MS }, done);
    await this.#settle().catch(this.#warn);
    await this.#claimed.release(this.#claimed.all).catch(this.#warn);
  }

  #lookIn(ms: number): void {
    const { clock } = this.#options;
    const tick = Math.ceil((clock.now() + ms) / TICK_MS);
    if (ms > LATEST_LOOK_MS || this.#looks.has(tick)) return;
    this.#looks.add(tick);
    const look = () => {
      this.#looks.delete(tick);
      void this.look();
    };
    clock.after(tick * TICK_MS - clock.now(), look).unref();
  }

  /** Runs one round at a time; a call during a round causes another one. */
  #go(): Promise<void> {
    this.#isDue = true;
    this.#going ??= this.#goWhileDue();
    return this.#going;
  }

  async #goWhileDue(): Promise<void> {
    while (this.#isDue && !this.#isClosing) {
      this.#isDue = false;
      await this.#round().catch(this.#warn);
    }
    // In the same turn, so that no call comes between.
    this.#going = undefined;
    if (this.#claimed.all.length === 0 || this.#isClosing) return;
    this.#renewing ??= this.#options.clock.after(RENEW_MS, () => {
      this.#renewing = undefined;
      void this.#go();
    });
    this.#renewing.unref();
  }

  async #round(): Promise<void> {
    // First, because sent rows would be taken again.
    await this.#settle();
    await this.#claimed.renew();
    if (this.#mayTake()) {
      await this.#claim();
      await this.#take();
    } else {
      for (const destination of this.#claimed.idle) destination.tryAfterMs = null;
    }
    await this.#release();
  }

  #mayTake(): boolean {
    return this.#options.broker.state() === 'writable' && !this.#isClosing;
  }

  /** The next round retries a settlement that Postgres did not take. */
  async #settle(): Promise<void> {
    const { store, onSettled } = this.#options;
    const sent = [...this.#sent];
    if (sent.length > 0) {
      await store.settle(sent);
      this.#sent.splice(0, sent.length);
      onSettled(sent);
    }
    for (let next = this.#postponed[0]; next !== undefined; next = this.#postponed[0]) {
      await store.postpone(next.rows, next.afterMs);
      this.#postponed.shift();
    }
  }

  async #claim(): Promise<void> {
    if (!this.#mayClaim) return;
    const isAnyDue = this.#isAnyDue;
    this.#mayClaim = false;
    const mayBeMore = await this.#claimed.claim(isAnyDue);
    this.#mayClaim ||= mayBeMore;
    if (isAnyDue) this.#isAnyDue = false;
  }

  /** Takes from destinations with nothing under way, and begins to send that. */
  async #take(): Promise<void> {
    let free = Math.ceil((MOST_BYTES_UNDER_WAY - this.#claimed.bytesUnderWay()) / MOST_BYTES);
    const asked = this.#claimed.idle.filter(({ isProven }) => !isProven || (free -= 1) >= 0);
    if (asked.length === 0) return;
    const taken = await this.#options.store.take(
      asked.map(({ room, after, isProven }) => ({ room, limit: isProven ? MOST_ROWS : 1, ...(after && { after }) })),
    );
    const rowsOf = new Map(taken.map(({ room, rows }) => [room, rows]));
    for (const destination of asked) {
      const rows = rowsOf.get(destination.room) ?? [];
      const { after } = destination;
      if (!this.#claimed.isHeld(destination) || !this.#mayTake()) continue;
      destination.after = rows.at(-1);
      if (rows.length > 0) destination.underWay = { rows, done: this.#send(destination, rows) };
      // Rows may have come, or have become due, before those that were taken.
      else if (after !== undefined) this.#isDue = true;
      else destination.tryAfterMs = null;
    }
  }

  async #send(destination: ClaimedDestination, rows: readonly TakenRow[]): Promise<void> {
    const { broker, onTaken } = this.#options;
    const failed: TakenRow[] = [];
    let reason: unknown;
    const send = async ({ publication, members }: Joined<TakenRow>) => {
      try {
        await broker.publish(publication);
        this.#sent.push(...members);
      } catch (error) {
        reason = error;
        failed.push(...members);
      }
    };
    onTaken(rows);
    await Promise.all(joinDeliveries(rows).map(send));
    destination.underWay = undefined;
    if (failed.length < rows.length) {
      destination.isProven = true;
      destination.shutAt = undefined;
    }
    if (failed.length > 0) this.#failed(destination, { failed, of: rows.length, reason });
    this.#claimed.wasUsed(destination);
    void this.#go();
  }

  #failed(destination: ClaimedDestination, { failed, of, reason }: FailedRows): void {
    const { clock } = this.#options;
    this.#warnOf(failed[0], reason);
    if (failed.length < of) return void this.#postponed.push({ rows: failed, afterMs: 2 * LATEST_MS });
    destination.shutAt ??= clock.now();
    const tryAfterMs = Math.min(LATEST_MS, Math.max(SOONEST_MS, (clock.now() - destination.shutAt) / 4));
    destination.tryAfterMs = tryAfterMs;
    // The message itself may be at fault: another one of the destination is tried before it.
    if (of === 1) this.#postponed.push({ rows: failed, afterMs: 2 * tryAfterMs });
  }

  #warnOf(row: TakenRow | undefined, reason: unknown): void {
    const { log, clock } = this.#options;
    const name = row === undefined ? '' : `${row.publication.exchange} ${row.publication.routingKey}`;
    const warn = this.#warnings.get(name) ?? throttledWarning(log, 'publications.not-sent-on', clock);
    this.#warnings.set(name, warn);
    warn(reason instanceof Unroutable ? new Error(`${reason.message}: ./waybell declare makes it`) : reason);
  }

  async #release(): Promise<void> {
    const released = this.#claimed.all.filter((each) => each.tryAfterMs !== undefined && each.underWay === undefined);
    await this.#claimed.release(released);
    // A room whose rows were all postponed is due after twice that time.
    for (const { tryAfterMs } of released) if (tryAfterMs) [1, 2].forEach((times) => this.#lookIn(times * tryAfterMs));
  }
}

/** A claimed destination. Times are the clock's. */
type ClaimedDestination = {
  room: string;
  /** The end of the claim. */
  until: number;
  /** Since when it has taken nothing; absent: it is open. */
  shutAt?: number | undefined;
  /** It has taken a message since it was claimed. */
  isProven: boolean;
  /** The row that was taken last. */
  after?: RowKey | undefined;
  underWay?: { rows: readonly TakenRow[]; done: Promise<void> } | undefined;
  /** When it is to be tried again, once it is given up; null: as soon as a row is due. */
  tryAfterMs?: number | null;
};

const MOST = 128;

/** The destinations that this process has claimed; the one that was used last comes last. */
class ClaimedDestinations {
  readonly #store: Pick<WaitingStore, 'claim' | 'renew' | 'release'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #all = new Map<string, ClaimedDestination>();
  #renewedAt = -Infinity;

  constructor(store: Pick<WaitingStore, 'claim' | 'renew' | 'release'>, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  get all(): ClaimedDestination[] {
    return [...this.#all.values()];
  }

  /** Claimed destinations whose claim has not run out, with nothing under way. */
  get idle(): ClaimedDestination[] {
    return this.all.filter((each) => each.underWay === undefined && each.tryAfterMs === undefined && this.isHeld(each));
  }

  isHeld({ room, until }: ClaimedDestination): boolean {
    return this.#all.has(room) && this.#clock.now() < until;
  }

  bytesUnderWay(): number {
    const rows = this.all.flatMap(({ underWay }) => underWay?.rows ?? []);
    return rows.reduce((sum, { publication }) => sum + publication.body.length, 0);
  }

  figures(): { claimed: number; shut: number } {
    const shut = this.all.filter(({ shutAt }) => shutAt !== undefined);
    return { claimed: this.#all.size, shut: shut.length };
  }

  /** Does nothing if its claim was lost, even if it was claimed again since. */
  wasUsed(destination: ClaimedDestination): void {
    const { room } = destination;
    if (this.#all.get(room) !== destination) return;
    this.#all.delete(room);
    this.#all.set(room, destination);
  }

  /** Resolves with whether there may be more. */
  async claim(isAnyDue: boolean): Promise<boolean> {
    const now = this.#clock.now();
    const most = MOST - this.#all.size;
    if (most <= 0) return true;
    const rooms = await this.#store.claim({ kind: 'destinations', most, isAnyDue });
    for (const { room, shutForMs } of rooms) {
      const shutAt = shutForMs === undefined ? undefined : now - shutForMs;
      this.#all.set(room, { room, until: now + CLAIM_MS, shutAt, isProven: false });
    }
    return rooms.length === most;
  }

  /** Renews the claims, if that is due, and forgets those that were lost. */
  async renew(): Promise<void> {
    const now = this.#clock.now();
    if (this.#all.size === 0 || now - this.#renewedAt < RENEW_MS) return;
    const renewed = await this.#store.renew([...this.#all.keys()].map((room) => ({ room, lives: true })));
    const held = new Set(renewed.map(({ room }) => room));
    for (const [room, destination] of this.#all) {
      if (held.has(room)) destination.until = now + CLAIM_MS;
      else this.#all.delete(room);
    }
    this.#renewedAt = now;
  }

  /** Gives these up, shut if they have taken nothing lately. */
  async release(destinations: readonly ClaimedDestination[]): Promise<void> {
    if (destinations.length === 0) return;
    const now = this.#clock.now();
    await this.#store.release(
      destinations.map(({ room, tryAfterMs, shutAt }): Released => ({
        room,
        ...(typeof tryAfterMs === 'number' && { afterMs: tryAfterMs }),
        ...(shutAt !== undefined && { shutForMs: now - shutAt }),
      })),
    );
    for (const { room } of destinations) this.#all.delete(room);
  }
}
