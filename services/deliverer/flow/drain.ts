import { PauseReasons, type Broker, type ConsumeCallbacks, type Consumer } from '@waybell/line/broker';
import { asWaited } from '@waybell/line/delivery';
import { isNoResult, newSourceId } from '@waybell/line/messages';
import { RENEW_MS, type WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import type { Clock, Timer } from '@waybell/runtime/clock';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import { dropReason, holdOf } from '../deliver.ts';
import type { DeliveryTarget, FindTargets } from '../find-target.ts';
import { roomOf } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';
import type { PlannedRead, Reads } from './reads.ts';
import type { Rooms, RoomsStep } from './rooms.ts';
import type { RowInHand } from './rows-in-hand.ts';

export type DrainOptions = {
  store: WaitingStore;
  endpoints: Endpoints;
  rooms: Rooms;
  reads: Reads;
  broker: Pick<Broker, 'state' | 'onState'>;
  findTargets: FindTargets;
  /** A held row is due, at the latest, at this age. */
  maxAgeMs: number;
  onTaken?: (rows: number) => void;
  clock: Clock;
  now: () => number;
  log: Log;
};

const POLL_MS = 1_000;
const WARNING = 'waiting.away: what waits for endpoints waits on';
const MOST_LOOKED_UP = 1_000;

/**
 * Asks the store for what `Rooms` wants, and applies the answers: one statement after another that settles, releases, claims or notes
 * (`#work`), beside them reads (`#read`) and scans (`#scanAll`). What fails is left to the next input or poll, within a second.
 */
export class Drain implements AsyncDisposable {
  readonly #options: DrainOptions;
  readonly #pauses = new PauseReasons();
  readonly #onFailed: (error: unknown) => void;
  #consuming: ConsumeCallbacks | undefined;
  #timed: AsyncDisposable[] = [];
  #timer: { at: number; timer: Timer } | undefined;
  #isTelling = false;
  #working: Promise<void> | undefined;
  #isReading = false;
  #isScanning = false;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#onFailed = throttledWarning(options.log, WARNING, options.clock);
  }

  /** Begins to take rows. Returns controls for the line, the same as those of a queue's consumer. */
  begin(consuming: ConsumeCallbacks): Consumer {
    const { rooms, broker, clock, log } = this.#options;
    this.#consuming = consuming;
    broker.onState((state) => (state === 'writable' ? this.#poll({ isTimed: false }) : this.goOn()));
    const every = (intervalMs: number, work: () => Promise<void>) =>
      runEvery(work, { intervalMs, beginsAtOnce: true, warning: WARNING, log, clock });
    // A poll waits for nothing: a drain that always has something to do must look for other rooms too.
    this.#timed = [every(RENEW_MS, () => this.#renew()), every(POLL_MS, async () => this.#poll({ isTimed: true }))];
    return {
      pause: async (reason) => {
        this.#pauses.pause(reason);
        rooms.checkAll();
        this.goOn();
      },
      resume: (reason) => {
        this.#pauses.resume(reason);
        this.#poll({ isTimed: false });
      },
      inHand: () => rooms.inHand.count,
    };
  }

  /** Tells whoever an input concerns. In microtasks: they may ask, or end a request, at once. */
  tell(): void {
    const { told, capacity } = this.#options.endpoints.effects;
    if (told.length > 0)
      for (const { waiter, admission } of told.splice(0)) queueMicrotask(() => waiter.onAdmitted(admission));
    if (capacity.length > 0 && !this.#isTelling) {
      this.#isTelling = true;
      queueMicrotask(() => this.#useCapacity());
    }
    this.#setTimer();
  }

  /** Tells whoever an input concerns, and has the rooms go on: what comes together goes together. */
  goOn(): void {
    const { rooms, broker } = this.#options;
    if (this.#consuming !== undefined) {
      rooms.isPaused = this.#pauses.isPaused || broker.state() !== 'writable';
      this.expire();
      this.#working ??= this.#work();
      if (!this.#isReading && rooms.toCheck.size + rooms.endings.length > 0) void this.#read();
      if (!this.#isScanning && rooms.toScan.size > 0) void this.#scanAll();
    }
    this.tell();
  }

  /** Cuts the rows of claims that have ended. */
  expire(): void {
    const { rooms } = this.#options;
    rooms.expire();
    if (rooms.cut.length === 0) return;
    for (const { source } of rooms.cut.splice(0)) if (source !== undefined) this.#consuming?.onCut(source);
  }

  /** Gives up its rooms. To be disposed of once nothing is in hand. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#pauses.pause('closing');
    await Promise.all(this.#timed.map((each) => each[Symbol.asyncDispose]()));
    this.goOn();
    await this.#working;
    this.#options.rooms.leaveAll();
    this.goOn();
    await this.#working;
    this.#timer?.timer[Symbol.dispose]();
  }

  #useCapacity(): void {
    const { endpoints, rooms } = this.#options;
    this.#isTelling = false;
    for (const name of endpoints.effects.capacity.splice(0)) rooms.hasCapacity(name);
    this.goOn();
  }

  #setTimer(): void {
    const { endpoints, clock } = this.#options;
    const at = Math.min(endpoints.nextAt, this.#roomsAt);
    if (at === Infinity || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.timer[Symbol.dispose]();
    const timer = clock.after(Math.max(0, at - clock.now()), () => {
      this.#timer = undefined;
      endpoints.tick();
      if (this.#roomsAt <= clock.now()) this.goOn();
      else this.tell();
    });
    timer.unref();
    this.#timer = { at, timer };
  }

  /** When the rooms go on without another input. */
  get #roomsAt(): number {
    const { rooms, reads } = this.#options;
    if (this.#consuming === undefined) return Infinity;
    const { claimsEndAt, lookAt } = rooms;
    return Math.min(claimsEndAt, this.#working ? Infinity : lookAt, this.#isReading ? Infinity : reads.endAt);
  }

  #poll(how: { isTimed: boolean }): void {
    this.#options.rooms.poll(how);
    this.goOn();
  }

  async #renew(): Promise<void> {
    const { rooms, store, clock } = this.#options;
    const asked = rooms.toRenew();
    if (asked.length === 0) return;
    const askedAt = clock.now();
    const found = await store.renew(asked.map(({ room, lives }) => ({ room, lives })));
    rooms.renewed(asked, found, askedAt);
    this.goOn();
  }

  async #work(): Promise<void> {
    const { rooms } = this.#options;
    try {
      await Promise.resolve();
      for (let step = rooms.nextStep(); step !== undefined; step = rooms.nextStep()) {
        await this.#ask(step);
        this.goOn();
      }
    } catch (error) {
      rooms.failed();
      this.#onFailed(error);
    } finally {
      this.#working = undefined;
      this.#setTimer();
    }
  }

  async #ask(step: RoomsStep): Promise<void> {
    const { rooms, store, clock } = this.#options;
    switch (step.kind) {
      case 'settle':
        await store.settle(step.rows);
        return rooms.settled(step.rows);
      case 'release':
        return whenAnswered(store.release(step.rooms), (how) => rooms.released(step.rooms, how));
      case 'note':
        return whenAnswered(store.noteScanned(step.room.room, step.seen), (how) => rooms.noted(step.room, how));
      case 'claim': {
        const askedAt = clock.now();
        return rooms.claimed(await store.claim(step.claim), { claim: step.claim, askedAt });
      }
    }
  }

  async #read(): Promise<void> {
    const { reads, store, clock, onTaken } = this.#options;
    this.#isReading = true;
    try {
      // All rooms that are checked at once are read together.
      await Promise.resolve();
      for (let planned = this.#planReads(); planned.length > 0; planned = this.#planReads()) {
        const [asked, beganAt] = [planned, clock.now()];
        const found = await store.take(asked.map(({ wanted }) => wanted)).catch((error: unknown) => {
          reads.notTaken(asked);
          throw error;
        });
        let count = 0;
        for (const row of reads.taken(asked, found, clock.now() - beganAt)) {
          count += 1;
          this.#handOver(row);
        }
        onTaken?.(count);
        this.goOn();
      }
    } catch (error) {
      this.#onFailed(error);
    } finally {
      this.#isReading = false;
      // Rooms may have been left.
      this.#working ??= this.#work();
      this.tell();
    }
  }

  /** Asking what an endpoint demands may concern others. */
  #planReads(): PlannedRead[] {
    const planned = this.#options.reads.next();
    this.tell();
    return planned;
  }

  /** Has a row handled like a message from a queue. */
  #handOver(row: RowInHand): void {
    const { rooms } = this.#options;
    row.source = {
      id: newSourceId(),
      messages: [asWaited(row.row, row.how)],
      acknowledge: () => {
        rooms.handled(row);
        this.goOn();
      },
      giveBack: () => {
        rooms.free(row);
        this.goOn();
      },
    };
    this.#consuming?.onTaken(row.source);
  }

  /** One room after another: a scan is short, and its rows end while the next room is scanned. */
  async #scanAll(): Promise<void> {
    const { rooms } = this.#options;
    this.#isScanning = true;
    for (let room = rooms.nextScan(); room !== undefined; room = rooms.nextScan()) {
      try {
        rooms.scanned(room, room.scan?.isChanged ? await this.#scan(room.room) : []);
      } catch (error) {
        this.#onFailed(error);
        rooms.scanned(room);
      }
      this.goOn();
    }
    this.#isScanning = false;
  }

  /** Moves rows with another endpoint to its room, and held ones to a room of their own, or back. Resolves with the subscriptions that are over. */
  async #scan(room: string): Promise<string[]> {
    const { store, findTargets } = this.#options;
    const subscriptions = await store.subscriptionsIn(room);
    const over: string[] = [];
    for (let first = 0; first < subscriptions.length; first += MOST_LOOKED_UP) {
      const some = subscriptions.slice(first, first + MOST_LOOKED_UP);
      const targets = await findTargets(some);
      for (const [place, subscription] of some.entries()) {
        const target = targets[place];
        if (isNoResult(target)) {
          if (target.kind === 'away') throw target.error;
          // The handler of its deliveries reports a subscription that cannot be read.
          continue;
        }
        if (target === undefined || dropReason(target) !== undefined) over.push(subscription);
        else await this.#follow(room, subscription, target);
      }
    }
    return over;
  }

  /** Moves rows, except those in hand. Held rows that stay may get another due time. */
  async #follow(room: string, subscription: string, target: DeliveryTarget): Promise<void> {
    const { store, rooms, endpoints, maxAgeMs, now } = this.#options;
    const hold = holdOf(target, now());
    const { room: to, account } = roomOf(target, { subscription, hold });
    endpoints.probeSoon(to);
    this.tell();
    if (to === room && hold === undefined) return;
    const held = hold && { ...hold, maxAgeMs };
    for (let moved = 1; moved > 0;) {
      using _ = rooms.inHand.moving({ room, subscription });
      const except = [...rooms.inHand.of(room).values()];
      moved = await store.move({ from: room, subscription, to, account, except, held });
    }
  }
}

/** Also tells where there is no answer, and passes on the error. */
async function whenAnswered(asked: Promise<unknown>, tell: (how: { isAway: boolean }) => void): Promise<void> {
  let isAway = true;
  try {
    await asked;
    isAway = false;
  } finally {
    tell({ isAway });
  }
}
