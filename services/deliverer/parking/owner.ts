import { randomUUID } from 'node:crypto';
import type { Broker, ConsumeCallbacks, Consumer } from '@waybell/line/broker';
import type { Clock } from '@waybell/runtime/clock';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { FindTarget } from '../find-target.ts';
import { CountParked } from './count-parked.ts';
import { Lease } from './lease.ts';
import { Owned, type OwnedEndpoint } from './owned.ts';
import { RENEW_MS, type Head, type ParkingStore, type RowKey } from './parking-store.ts';
import { RemoveSettled } from './remove-settled.ts';
import { RowsInHand } from './rows-in-hand.ts';
import { shardOf } from './shard-of.ts';
import type { Sums } from './sums.ts';
import { TakeWhereRoom } from './take-where-room.ts';
import { WhatIsOver, type ParkedLimits } from './what-is-over.ts';

export type OwnerOptions = {
  store: ParkingStore;
  endpoints: Endpoints;
  sums: Sums;
  broker: Pick<Broker, 'state' | 'onState'>;
  findTarget: FindTarget;
  parked: ParkedLimits;
  /** Older deliveries are over. */
  maxAgeMs: number;
  clock: Clock;
  now: () => number;
  log: Log;
};

const LOOK_MS = 1_000;
const REVIEW_MS = 30_000;
const COMPLAINT = 'parking.away: what is parked waits';

/**
 * Owns parked deliveries: brings those whose endpoint has room, or that are over, into hand, where each is handled like
 * one that a queue sent, and deletes them when what they became is safe. See docs/decisions/0004-flow.md.
 */
export class ParkingOwner {
  readonly #options: OwnerOptions;
  readonly #lease: Lease;
  readonly #owned = new Owned();
  readonly #inHand: RowsInHand;
  readonly #take: TakeWhereRoom;
  readonly #over: WhatIsOver;
  readonly #removal: RemoveSettled;
  readonly #pausedFor = new Set<string>();
  readonly #work: AsyncDisposable[];
  readonly #onFailed: (error: unknown) => void;
  /** What a look came to is not known, or shards are new: heads may have been missed. */
  #isUnsure = false;
  readonly #count: CountParked;
  #last: Promise<void> = Promise.resolve();

  constructor(options: OwnerOptions, consuming: ConsumeCallbacks) {
    this.#options = options;
    const { store, broker, parked, clock, log } = options;
    this.#onFailed = throttledWarning(log, COMPLAINT, clock);
    const onFailed = this.#onFailed;
    this.#count = new CountParked(store);
    this.#lease = new Lease({ store, owner: randomUUID(), clock, onLost: (isLost) => this.#lose(isLost) });
    const onSettled = () => void this.#removal.go();
    this.#inHand = new RowsInHand({ consuming, onSettled, onFreed: ({ endpoint }) => this.hasRoom(endpoint) });
    const common = {
      ...options,
      owned: this.#owned,
      inHand: this.#inHand,
      isPaused: () => this.#isPaused,
      isLeaving: (shard: number) => this.#lease.isLeaving(shard),
      onMiscounted: (account: string) => this.#count.want([shardOf(account)]),
      onFailed,
    };
    const onNothing = (some: readonly OwnedEndpoint[]) =>
      void this.#inTurn(() => this.#lookBehind(some)).catch(onFailed);
    this.#take = new TakeWhereRoom({ ...common, limit: parked.held, onNothing });
    this.#over = new WhatIsOver(common);
    this.#removal = new RemoveSettled(common);
    broker.onState((state) => state === 'writable' && this.#take.go());
    const again = (intervalMs: number, work: () => Promise<void>) =>
      runEvery(work, { intervalMs, beginsAtOnce: true, complaint: COMPLAINT, log, clock });
    this.#work = [
      // Beside the others: a look that takes long must not cost the lease, and to look at millions takes longer than one.
      again(RENEW_MS, () => this.#renew()),
      again(LOOK_MS, () => this.#count.go()),
      again(LOOK_MS, () => this.#over.keepBounds(this.#lease.shards())),
      again(LOOK_MS, () => this.#inTurn(() => this.#look())),
      again(REVIEW_MS, () => this.#inTurn(() => this.#review())),
    ];
  }

  /** What the line may do with it: the same as with what takes from a queue. */
  get consumer(): Consumer {
    return {
      pause: async (reason) => void this.#pausedFor.add(reason),
      resume: (reason) => {
        this.#pausedFor.delete(reason);
        this.#take.go();
      },
      held: () => this.#inHand.count,
    };
  }

  /** There is room at an endpoint, or a row for it is in hand no more. */
  hasRoom(endpoint: string): void {
    const owned = this.#owned.get(endpoint);
    if (owned === undefined) this.#take.go();
    else this.#take.want(owned);
  }

  /**
   * What this process has, of 1, of the limits of an account's endpoints. They hold for all deliverers together, to each of which come
   * as many deliveries. Who sends what is parked for the account has them whole: all that waits goes by that way.
   */
  partOf(account: string): number {
    return this.#owned.hasAccount(account) ? 1 : 1 / this.#lease.deliverers;
  }

  /** Whether what was made of a parked delivery may be published: this process has it still. */
  holds(key: RowKey): boolean {
    this.#lease.shards();
    return this.#inHand.has(key);
  }

  /** Figures of this process: its endpoints with parked deliveries, and for how long one of them has had room and got none. */
  figures() {
    const { clock, endpoints } = this.#options;
    let [hung, withRoomMs] = [0, 0];
    for (const { endpoint, roomSince } of this.#owned.all()) {
      if (endpoints.isHung(endpoint)) hung += 1;
      withRoomMs = Math.max(withRoomMs, clock.now() - (roomSince ?? clock.now()));
    }
    const { all, oldestMs } = this.#over;
    const { deliverers } = this.#lease;
    return {
      deliverers,
      hung,
      waiting: this.#owned.count - hung,
      withRoomMs,
      taken: this.#inHand.taken,
      all,
      oldestMs,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { store, sums } = this.#options;
    await Promise.all(this.#work.map((each) => each[Symbol.asyncDispose]()));
    this.#over.close();
    await this.#removal.go();
    try {
      await sums.flush((changes) => store.addToSums(changes));
    } catch (error) {
      this.#onFailed(error);
    }
    await this.#lease.release().catch(this.#onFailed);
  }

  get #isPaused(): boolean {
    // What was taken while the lease ran out is no longer its own.
    const isOwner = this.#lease.shards().length > 0;
    return !isOwner || this.#pausedFor.size > 0 || this.#options.broker.state() !== 'writable';
  }

  /** One after the other: a head that is deleted here must not be met there. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #renew(): Promise<void> {
    const fresh = await this.#lease.renew(this.#inHand.shards());
    if (fresh.length === 0) return;
    this.#isUnsure = true;
    this.#count.want(fresh);
    void this.#inTurn(() => this.#look()).catch(this.#onFailed);
  }

  /** All heads once more: a word that one is due may have been given to its owner before. */
  async #review(): Promise<void> {
    this.#isUnsure = true;
    await this.#over.findTooOld();
  }

  async #look(): Promise<void> {
    const { store, sums, clock } = this.#options;
    await sums.flush((changes) => store.addToSums(changes));
    const shards = this.#lease.shards();
    if (shards.length === 0) return;
    await this.#meetHeads(shards);
    await this.#over.see();
    await this.#markHung();
    for (const owned of this.#owned.all()) if (owned.isAtEnd && owned.restartAt <= clock.now()) this.#take.want(owned);
    this.#take.go();
    void this.#removal.go();
  }

  /** What is new, or what something happened to; all there is, where that may have been missed. */
  async #meetHeads(shards: readonly number[]): Promise<void> {
    const { store } = this.#options;
    const areAll = this.#isUnsure;
    // Before it is asked: shards may be new meanwhile.
    this.#isUnsure = false;
    const heads = await (areAll ? store.heads(shards) : store.dueHeads(shards)).catch((error: unknown) => {
      this.#isUnsure = true;
      throw error;
    });
    const owned = new Set(this.#lease.shards());
    // The lease may have ended meanwhile: what another owns now is none of its business.
    for (const head of heads.filter(({ shard }) => owned.has(shard))) this.#meet(head, areAll);
  }

  #meet(head: Head, isOneOfAll: boolean): void {
    const { endpoints } = this.#options;
    const { owned, isKnown } = this.#owned.put(head);
    this.#over.changed(head.subscription);
    // What hung when another had it hangs for this process too, until it answers.
    endpoints.demand(owned);
    // Something happened to the subscription, or it answered what was sent by hand.
    if (isKnown && !isOneOfAll) endpoints.probeSoon(owned.endpoint);
    if (!isKnown || !isOneOfAll) owned.restartAt = -Infinity;
    this.#take.want(owned);
  }

  async #markHung(): Promise<void> {
    const { store, endpoints } = this.#options;
    const changed: Record<'hung' | 'well', string[]> = { hung: [], well: [] };
    for (const owned of this.#owned.all()) {
      const isHung = endpoints.isHung(owned.endpoint);
      if (isHung === owned.isKnownHung) continue;
      owned.isKnownHung = isHung;
      changed[isHung ? 'hung' : 'well'].push(...owned.after.keys());
    }
    if (changed.hung.length > 0) await store.markHung(changed.hung, true);
    if (changed.well.length > 0) await store.markHung(changed.well, false);
  }

  /** Nothing of these endpoints may be taken now: some of it later, or there is nothing. */
  async #lookBehind(some: readonly OwnedEndpoint[]): Promise<void> {
    const { store, clock } = this.#options;
    const subscriptions = some.flatMap(({ after }) => [...after.keys()]);
    if (subscriptions.length === 0) return;
    const oldest = await store.oldest(subscriptions);
    const gone = await store.removeEmpty(subscriptions.filter((subscription) => !oldest.has(subscription)));
    for (const subscription of gone) this.#owned.remove(subscription);
    for (const owned of some) {
      const inMs = [...owned.after.keys()].map((each) => oldest.get(each)?.mayBeTakenInMs ?? Infinity);
      owned.restartAt = Math.max(owned.restartAt, clock.now() + Math.min(...inMs, LOOK_MS));
      this.#take.want(owned);
    }
  }

  #lose(isLost: (shard: number) => boolean): void {
    this.#owned.removeShards(isLost);
    this.#count.forget(isLost);
    this.#inHand.cut(({ shard }) => isLost(shard));
  }
}
