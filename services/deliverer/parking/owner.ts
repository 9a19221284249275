import { randomUUID } from 'node:crypto';
import type { Broker, ConsumeCallbacks, Consumer } from '@waybell/line/broker';
import type { Clock } from '@waybell/runtime/clock';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { FindTargets } from '../find-target.ts';
import { CountParked } from './count-parked.ts';
import { OwnedShards } from './owned-shards.ts';
import { OwnedEndpoints, type OwnedEndpoint } from './owned-endpoints.ts';
import { RENEW_MS, type ParkedHead, type ParkingStore, type RowKey } from './parking-store.ts';
import { RemoveSettled } from './remove-settled.ts';
import { ParkedRowsInHand } from './parked-rows-in-hand.ts';
import { shardOf } from './shard-of.ts';
import type { SumChanges } from './sum-changes.ts';
import { TakeWhereRoom } from './take-where-room.ts';
import { FindParkedToEnd, type ParkedLimits } from './find-parked-to-end.ts';

export type OwnerOptions = {
  store: ParkingStore;
  endpoints: Endpoints;
  sums: SumChanges;
  broker: Pick<Broker, 'state' | 'onState'>;
  findTargets: FindTargets;
  parked: ParkedLimits;
  /** Older deliveries end without an attempt. */
  maxAgeMs: number;
  clock: Clock;
  now: () => number;
  log: Log;
};

const LOOK_MS = 1_000;
const REVIEW_MS = 30_000;
const COMPLAINT = 'parking.away: what is parked waits';

/**
 * Owns parked deliveries: takes those whose endpoint has room or that must end, has each handled like one from a queue, and
 * deletes it when its effects are safe. See docs/decisions/0004-flow.md.
 */
export class ParkingOwner {
  readonly #options: OwnerOptions;
  readonly #shards: OwnedShards;
  readonly #owned = new OwnedEndpoints();
  readonly #inHand: ParkedRowsInHand;
  readonly #take: TakeWhereRoom;
  readonly #toEnd: FindParkedToEnd;
  readonly #removal: RemoveSettled;
  readonly #pausedFor = new Set<string>();
  readonly #work: AsyncDisposable[];
  readonly #onFailed: (error: unknown) => void;
  /** A look failed, or shards are new: due heads may have been missed. */
  #isUnsure = false;
  readonly #count: CountParked;
  #last: Promise<void> = Promise.resolve();

  constructor(options: OwnerOptions, consuming: ConsumeCallbacks) {
    this.#options = options;
    const { store, broker, parked, clock, log } = options;
    this.#onFailed = throttledWarning(log, COMPLAINT, clock);
    const onFailed = this.#onFailed;
    this.#count = new CountParked(store);
    this.#shards = new OwnedShards({ store, owner: randomUUID(), clock, onLost: (isLost) => this.#lose(isLost) });
    const onSettled = () => void this.#removal.go();
    this.#inHand = new ParkedRowsInHand({ consuming, onSettled, onFreed: ({ endpoint }) => this.hasRoom(endpoint) });
    const common = {
      ...options,
      owned: this.#owned,
      inHand: this.#inHand,
      isPaused: () => this.#isPaused,
      isLeaving: (shard: number) => this.#shards.isLeaving(shard),
      onMiscounted: (account: string) => this.#count.want([shardOf(account)]),
      onFailed,
    };
    const onNothing = (some: readonly OwnedEndpoint[]) =>
      void this.#inTurn(() => this.#recheckEmpty(some)).catch(onFailed);
    this.#take = new TakeWhereRoom({ ...common, limit: parked.held, onNothing });
    this.#toEnd = new FindParkedToEnd(common);
    this.#removal = new RemoveSettled(common);
    broker.onState((state) => state === 'writable' && this.#take.go());
    const again = (intervalMs: number, work: () => Promise<void>) =>
      runEvery(work, { intervalMs, beginsAtOnce: true, complaint: COMPLAINT, log, clock });
    this.#work = [
      // In parallel: a long look must not cost the lease, and counting millions of rows takes longer still.
      again(RENEW_MS, () => this.#renew()),
      again(LOOK_MS, () => this.#count.go()),
      again(LOOK_MS, () => this.#toEnd.enforceLimits(this.#shards.current())),
      again(LOOK_MS, () => this.#inTurn(() => this.#look())),
      again(REVIEW_MS, () => this.#inTurn(() => this.#review())),
    ];
  }

  /** Controls for the line, the same as those of a queue's consumer. */
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

  /** Called when an endpoint has room, or when a row for it is no longer in hand. */
  hasRoom(endpoint: string): void {
    const owned = this.#owned.get(endpoint);
    if (owned === undefined) this.#take.go();
    else this.#take.want(owned);
  }

  /**
   * Returns this process's part, from 0 to 1, of the limits of an account's endpoints. The deliverers share the limits equally,
   * as they share the deliveries; but the owner of an account's parked deliveries has them whole, as all that wait go through it.
   */
  partOf(account: string): number {
    return this.#owned.hasAccount(account) ? 1 : 1 / this.#shards.deliverers;
  }

  /** Whether this process still has a parked delivery, and so may publish its effects. */
  holds(key: RowKey): boolean {
    this.#shards.current();
    return this.#inHand.has(key);
  }

  /** Figures of this process. `withRoomMs`: how long an endpoint has had room and got no row, at most. */
  figures() {
    const { clock, endpoints } = this.#options;
    let [hung, withRoomMs] = [0, 0];
    for (const { endpoint, roomSince } of this.#owned.all()) {
      if (endpoints.isHung(endpoint)) hung += 1;
      withRoomMs = Math.max(withRoomMs, clock.now() - (roomSince ?? clock.now()));
    }
    const { all, oldestMs } = this.#toEnd;
    const { deliverers } = this.#shards;
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
    this.#toEnd.close();
    await this.#removal.go();
    try {
      await sums.flush((changes) => store.addToSums(changes));
    } catch (error) {
      this.#onFailed(error);
    }
    await this.#shards.release().catch(this.#onFailed);
  }

  get #isPaused(): boolean {
    // Rows taken while the lease ran out are no longer its own.
    const isOwner = this.#shards.current().length > 0;
    return !isOwner || this.#pausedFor.size > 0 || this.#options.broker.state() !== 'writable';
  }

  /** Runs work one after the other: a head must not be deleted by one and read by another. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #renew(): Promise<void> {
    const fresh = await this.#shards.renew(this.#inHand.shards());
    if (fresh.length === 0) return;
    this.#isUnsure = true;
    this.#count.want(fresh);
    void this.#inTurn(() => this.#look()).catch(this.#onFailed);
  }

  /** Reads all heads again: an earlier owner may have been told that one is due. */
  async #review(): Promise<void> {
    this.#isUnsure = true;
    await this.#toEnd.endTooOld();
  }

  async #look(): Promise<void> {
    const { store, sums, clock } = this.#options;
    await sums.flush((changes) => store.addToSums(changes));
    const shards = this.#shards.current();
    if (shards.length === 0) return;
    await this.#meetHeads(shards);
    await this.#toEnd.checkChanged();
    await this.#markHung();
    for (const owned of this.#owned.all()) if (owned.isAtEnd && owned.restartAt <= clock.now()) this.#take.want(owned);
    this.#take.go();
    void this.#removal.go();
  }

  /** Reads heads that are new or changed; all of them if some may have been missed. */
  async #meetHeads(shards: readonly number[]): Promise<void> {
    const { store } = this.#options;
    const areAll = this.#isUnsure;
    // Reset before asking: shards may be new meanwhile.
    this.#isUnsure = false;
    const heads = await (areAll ? store.heads(shards) : store.dueHeads(shards)).catch((error: unknown) => {
      this.#isUnsure = true;
      throw error;
    });
    const owned = new Set(this.#shards.current());
    // The lease may have ended meanwhile.
    for (const head of heads.filter(({ shard }) => owned.has(shard))) this.#meet(head, areAll);
  }

  #meet(head: ParkedHead, isOneOfAll: boolean): void {
    const { endpoints } = this.#options;
    const { owned, isKnown } = this.#owned.put(head);
    this.#toEnd.changed(head.subscription);
    // An endpoint that hung for its previous owner hangs for this one too, until it answers.
    endpoints.demand(owned);
    // The subscription changed, or its endpoint answered a delivery sent by hand.
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

  /** Nothing of these endpoints can be taken now: schedules the next read, and removes heads without rows. */
  async #recheckEmpty(some: readonly OwnedEndpoint[]): Promise<void> {
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
