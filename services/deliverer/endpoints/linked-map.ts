type LinkedEntry<K, V> = {
  readonly key: K;
  value: V;
  before: LinkedEntry<K, V> | undefined;
  after: LinkedEntry<K, V> | undefined;
};

/**
 * A map in insertion order, as a linked list: all operations take constant time. A plain Map whose first entries are deleted
 * again and again walks over the gaps.
 */
export class LinkedMap<K, V> {
  readonly #links = new Map<K, LinkedEntry<K, V>>();
  #first: LinkedEntry<K, V> | undefined;
  #last: LinkedEntry<K, V> | undefined;

  get size(): number {
    return this.#links.size;
  }

  get(key: K): V | undefined {
    return this.#links.get(key)?.value;
  }

  /** A new key comes last; a known one keeps its place. */
  set(key: K, value: V): this {
    const known = this.#links.get(key);
    if (known !== undefined) {
      known.value = value;
      return this;
    }
    const link: LinkedEntry<K, V> = { key, value, before: undefined, after: undefined };
    this.#links.set(key, link);
    this.#append(link);
    return this;
  }

  delete(key: K): void {
    const link = this.#links.get(key);
    if (link === undefined) return;
    this.#links.delete(key);
    this.#cut(link);
  }

  toEnd(key: K): void {
    const link = this.#links.get(key);
    if (link === undefined || link === this.#last) return;
    this.#cut(link);
    this.#append(link);
  }

  *[Symbol.iterator](): Generator<readonly [K, V]> {
    for (let link = this.#first; link !== undefined; link = link.after) yield [link.key, link.value];
  }

  #append(link: LinkedEntry<K, V>): void {
    link.before = this.#last;
    link.after = undefined;
    if (this.#last === undefined) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
  }

  #cut({ before, after }: LinkedEntry<K, V>): void {
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
  }
}
