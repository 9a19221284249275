/** An entry of a LinkedMap, which keeps its neighbours in it. */
export type Linked<K, Entry> = {
  readonly key: K;
  before: Entry | undefined;
  after: Entry | undefined;
};

/** An entry with a value. */
export class LinkedEntry<K, V> implements Linked<K, LinkedEntry<K, V>> {
  readonly key: K;
  readonly value: V;
  before: LinkedEntry<K, V> | undefined;
  after: LinkedEntry<K, V> | undefined;

  constructor(key: K, value: V) {
    this.key = key;
    this.value = value;
  }
}

/**
 * A map in insertion order, as a linked list of its entries: all operations take constant time. A plain Map whose first
 * entries are deleted again and again walks over the gaps.
 */
export class LinkedMap<K, Entry extends Linked<K, Entry>> {
  readonly #entries = new Map<K, Entry>();
  #first: Entry | undefined;
  #last: Entry | undefined;

  get size(): number {
    return this.#entries.size;
  }

  get first(): Entry | undefined {
    return this.#first;
  }

  get(key: K): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Puts an entry last, whose key must be new. */
  add(entry: Entry): Entry {
    this.#entries.set(entry.key, entry);
    this.#append(entry);
    return entry;
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#cut(entry);
  }

  toEnd(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry === this.#last) return;
    this.#cut(entry);
    this.#append(entry);
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (let entry = this.#first; entry !== undefined; entry = entry.after) yield entry;
  }

  #append(entry: Entry): void {
    entry.before = this.#last;
    entry.after = undefined;
    if (this.#last === undefined) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
  }

  #cut({ before, after }: Entry): void {
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
  }
}
