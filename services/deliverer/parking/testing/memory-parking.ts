import type { ParkedRow } from '@waybell/line/messages';
import { Unavailable } from '@waybell/runtime/unavailable';
import {
  type NewestRows,
  MOST_BYTES,
  type LeaseResult,
  type ParkingStore,
  type RowKey,
  type ParkedSum,
  type TakenRows,
  type RowsWanted,
} from '../parking-store.ts';
import { shardOf } from '../shard-of.ts';
import { MemoryHeads, type CalledEndpoint } from './memory-heads.ts';
import { MemoryLeases } from './memory-leases.ts';
import { compareKeys, MemoryRows, type StoredRow } from './memory-rows.ts';

export type MemoryParkingOptions = {
  /** Milliseconds. */
  now: () => number;
  /** Finds account and endpoint of a subscription; undefined if there is none. */
  whose: (subscription: string) => CalledEndpoint | undefined;
};

/** A parking store in memory, by a given clock, with the promises of `parkInPostgres`. */
export class MemoryParking implements ParkingStore {
  /** Whether all methods reject with `Unavailable`. */
  isAway = false;
  readonly #now: () => number;
  readonly #heads: MemoryHeads;
  readonly #leases: MemoryLeases;
  readonly #rows = new Map<string, MemoryRows>();
  readonly #sums = new Map<string, ParkedSum>();
  #onFilled: (() => void)[] = [];

  constructor({ now, whose }: MemoryParkingOptions) {
    this.#now = now;
    this.#heads = new MemoryHeads(whose);
    this.#leases = new MemoryLeases(now);
  }

  /** Number of rows. */
  get count(): number {
    let count = 0;
    for (const { size } of this.#rows.values()) count += size;
    return count;
  }

  /** Resolves as soon as something is parked. */
  async untilFilled(): Promise<void> {
    if (this.count === 0) await new Promise<void>((resolve) => this.#onFilled.push(resolve));
  }

  /** Makes a subscription's head due: it calls another URL, was switched off, ended, or its account has other features. */
  changed(subscription: CalledEndpoint & { subscription: string }): void {
    this.#heads.change(subscription);
  }

  /** Deletes the body of a row that is parked, as an erasure request does. */
  forget(key: RowKey): void {
    for (const row of this.#rows.get(key.subscription)?.after() ?? []) {
      if (compareKeys(row, key) === 0) Object.assign(row, { body: Buffer.alloc(0), isForgotten: true });
    }
  }

  async insert(rows: readonly ParkedRow[]): Promise<void> {
    this.#beThere();
    const unknown: string[] = [];
    for (const { notBeforeMs, ...row } of rows) {
      if (!this.#heads.make(row.subscription)) {
        unknown.push(row.subscription);
        continue;
      }
      const kept = this.#rows.get(row.subscription) ?? new MemoryRows();
      this.#rows.set(row.subscription, kept);
      for (const tell of this.#onFilled.splice(0)) tell();
      kept.insert({ ...row, notBefore: notBeforeMs === undefined ? -Infinity : this.#now() + notBeforeMs });
    }
    if (unknown.length > 0) throw new Error(`nothing can be parked for ${unknown.join(', ')}: no such subscription`);
  }

  async has(keys: readonly RowKey[]): Promise<boolean[]> {
    this.#beThere();
    return keys.map((key) => this.#rows.get(key.subscription)?.has(key) ?? false);
  }

  async remove(keys: readonly RowKey[]): Promise<void> {
    this.#beThere();
    for (const key of keys) {
      const rows = this.#rows.get(key.subscription);
      if (rows?.remove(key)) this.#heads.forgetDeaths(key.subscription);
      if (rows?.size === 0) this.#rows.delete(key.subscription);
    }
  }

  async lease(owner: string, keep: ReadonlySet<number>): Promise<LeaseResult> {
    this.#beThere();
    const { owned, taken, leaving, orphaned, deliverers } = this.#leases.lease(owner, keep);
    this.#heads.countDeaths(orphaned);
    return { owned, taken, leaving, deliverers };
  }

  async release(owner: string): Promise<void> {
    this.#beThere();
    this.#leases.release(owner);
  }

  async heads(shards: readonly number[]) {
    this.#beThere();
    return this.#heads.of(shards);
  }

  async dueHeads(shards: readonly number[]) {
    this.#beThere();
    return this.#heads.due(shards);
  }

  async wake(subscription: string): Promise<void> {
    this.#beThere();
    this.#heads.wake(subscription);
  }

  async take(wanted: readonly RowsWanted[]): Promise<TakenRows[]> {
    this.#beThere();
    return wanted.map((each) => ({ endpoint: each.endpoint, ...this.#takeOf(each) }));
  }

  async oldest(subscriptions: readonly string[]): Promise<Map<string, { createdAt: number; mayBeTakenInMs: number }>> {
    this.#beThere();
    const found = new Map<string, { createdAt: number; mayBeTakenInMs: number }>();
    for (const subscription of subscriptions) {
      const rows = this.#rows.get(subscription);
      const [first] = rows?.after() ?? [];
      if (rows === undefined || first === undefined) continue;
      found.set(subscription, { createdAt: first.createdAt, mayBeTakenInMs: this.#waitMs(rows) });
    }
    return found;
  }

  async removeEmpty(subscriptions: readonly string[]): Promise<string[]> {
    this.#beThere();
    return subscriptions.filter((subscription) => !this.#rows.has(subscription) && this.#heads.delete(subscription));
  }

  async markHung(subscriptions: readonly string[], isHung: boolean): Promise<void> {
    this.#beThere();
    for (const subscription of subscriptions) this.#heads.markHung(subscription, isHung);
  }

  async addToSums(changes: readonly ParkedSum[]): Promise<void> {
    this.#beThere();
    for (const change of changes) this.#add(change);
  }

  async sums(shards: readonly number[]) {
    this.#beThere();
    const sums = [...this.#sums.values()].filter(({ rows }) => rows > 0);
    const [largest] = sums.toSorted((one, other) => other.bytes - one.bytes || other.rows - one.rows);
    const all = { rows: 0, bytes: 0 };
    for (const { rows, bytes } of sums) {
      all.rows += rows;
      all.bytes += bytes;
    }
    const own = sums.filter(({ account }) => shards.includes(shardOf(account))).map((sum) => ({ ...sum }));
    return { all, own, ...(largest === undefined ? {} : { largest: { ...largest } }) };
  }

  async recount(shards: readonly number[]): Promise<void> {
    this.#beThere();
    const isOwn = (account: string) => shards.includes(shardOf(account));
    for (const account of this.#sums.keys()) if (isOwn(account)) this.#sums.delete(account);
    for (const [subscription, rows] of this.#rows) {
      const account = this.#heads.whose(subscription)?.account;
      if (account === undefined || !isOwn(account)) continue;
      for (const { body } of rows.after()) this.#add({ account, rows: 1, bytes: body.length });
    }
  }

  async newestWithin(subscriptions: readonly string[], most: Omit<ParkedSum, 'account'>): Promise<NewestRows> {
    this.#beThere();
    const found = subscriptions.flatMap((subscription) => [...(this.#rows.get(subscription)?.after() ?? [])]);
    let [rows, bytes, since] = [0, 0, Infinity];
    for (const { createdAt, body } of found.toSorted((one, other) => other.createdAt - one.createdAt)) {
      bytes += body.length;
      if (rows === most.rows || bytes > most.bytes) break;
      rows += 1;
      since = createdAt;
    }
    return { since, others: found.length - rows };
  }

  #beThere(): void {
    if (!this.isAway) return;
    throw new Unavailable('postgres', async () => {
      if (this.isAway) throw new Error('postgres is away');
    });
  }

  #takeOf({ after, limit, madeBefore }: RowsWanted): Pick<TakenRows, 'rows' | 'isCut'> {
    const now = this.#now();
    const found: StoredRow[] = [];
    for (const [subscription, key] of after) {
      let left = limit;
      for (const row of this.#rows.get(subscription)?.after(key) ?? []) {
        if (left === 0 || row.createdAt >= (madeBefore ?? Infinity)) break;
        if (madeBefore === undefined && row.notBefore > now) continue;
        found.push(row);
        left -= 1;
      }
    }
    let bytes = 0;
    const oldest = after.size === 1 ? found : found.toSorted(compareKeys).slice(0, limit);
    const tooMany = oldest.findIndex((row, index) => (bytes += row.body.length) > MOST_BYTES && index > 0);
    const rows = oldest.slice(0, tooMany === -1 ? limit : tooMany).map((row) => {
      const { notBefore: _, ...taken } = row;
      return taken;
    });
    return tooMany === -1 ? { rows } : { rows, isCut: true };
  }

  #waitMs(rows: MemoryRows): number {
    const now = this.#now();
    let soonest = Infinity;
    for (const { notBefore } of rows.after()) {
      soonest = Math.min(soonest, notBefore);
      if (soonest <= now) return 0;
    }
    return Math.ceil(soonest - now);
  }

  #add({ account, rows, bytes }: ParkedSum): void {
    const sum = this.#sums.get(account) ?? { account, rows: 0, bytes: 0 };
    sum.rows += rows;
    sum.bytes += bytes;
    this.#sums.set(account, sum);
  }
}
