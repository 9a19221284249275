import type { ParkedHead } from '../parking-store.ts';
import { shardOf } from '../shard-of.ts';

/** The account of a subscription, and the endpoint that it calls. */
export type CalledEndpoint = { account: string; endpoint: string };

type StoredHead = Omit<ParkedHead, 'endpoint'> & { shard: number; isDue: boolean };

/** Heads, and changes of their subscriptions. */
export class MemoryHeads {
  readonly #whose: (subscription: string) => CalledEndpoint | undefined;
  readonly #changed = new Map<string, CalledEndpoint>();
  readonly #heads = new Map<string, StoredHead>();

  constructor(whose: (subscription: string) => CalledEndpoint | undefined) {
    this.#whose = whose;
  }

  /** False if there is no such subscription. */
  make(subscription: string): boolean {
    if (this.#heads.has(subscription)) return true;
    const account = this.whose(subscription)?.account;
    if (account === undefined) return false;
    const shard = shardOf(account);
    this.#heads.set(subscription, { subscription, account, shard, isDue: true, isHung: false, deaths: 0 });
    return true;
  }

  change({ subscription, ...whose }: CalledEndpoint & { subscription: string }): void {
    this.#changed.set(subscription, whose);
    this.wake(subscription);
  }

  whose(subscription: string): CalledEndpoint | undefined {
    return this.#changed.get(subscription) ?? this.#whose(subscription);
  }

  wake(subscription: string): void {
    const head = this.#heads.get(subscription);
    if (head !== undefined) head.isDue = true;
  }

  of(shards: readonly number[]): ParkedHead[] {
    const own = new Set(shards);
    return [...this.#heads.values()].filter(({ shard }) => own.has(shard)).flatMap((head) => this.#look(head));
  }

  due(shards: readonly number[]): ParkedHead[] {
    const own = new Set(shards);
    const due = [...this.#heads.values()].filter(({ shard, isDue }) => isDue && own.has(shard));
    return due.flatMap((head) => this.#look(head));
  }

  delete(subscription: string): boolean {
    return this.#heads.delete(subscription);
  }

  markHung(subscription: string, isHung: boolean): void {
    const head = this.#heads.get(subscription);
    if (head !== undefined) head.isHung = isHung;
  }

  countDeaths(shards: readonly number[]): void {
    for (const head of this.#heads.values()) if (shards.includes(head.shard)) head.deaths += 1;
  }

  forgetDeaths(subscription: string): void {
    const head = this.#heads.get(subscription);
    if (head !== undefined) head.deaths = 0;
  }

  #look(head: StoredHead): ParkedHead[] {
    head.isDue = false;
    const { subscription, account, shard, isHung, deaths } = head;
    const endpoint = this.whose(subscription)?.endpoint;
    return endpoint === undefined ? [] : [{ subscription, account, shard, endpoint, isHung, deaths }];
  }
}
