type Link<K, V> = { readonly key: K; value: V; before: Link<K, V> | undefined; after: Link<K, V> | undefined };

/**
 * A map in the order in which things came. Everything takes the same time, however many there are: a Map that is taken
 * from at its front walks over what was there.
 */
export class Ring<K, V> {
  readonly #links = new Map<K, Link<K, V>>();
  #first: Link<K, V> | undefined;
  #last: Link<K, V> | undefined;

  get size(): number {
    return this.#links.size;
  }

  get(key: K): V | undefined {
    return this.#links.get(key)?.value;
  }

  /** What is new comes last; what is there keeps its place. */
  set(key: K, value: V): this {
    const known = this.#links.get(key);
    if (known !== undefined) {
      known.value = value;
      return this;
    }
    const link: Link<K, V> = { key, value, before: undefined, after: undefined };
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

  #append(link: Link<K, V>): void {
    link.before = this.#last;
    link.after = undefined;
    if (this.#last === undefined) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
  }

  #cut({ before, after }: Link<K, V>): void {
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
  }
}
