/** A binary heap: the item that is before all others is first. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let place = items.push(item) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = items[above];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      items[place] = parent;
      place = above;
    }
    items[place] = item;
  }

  /** Removes and returns the first item. */
  pop(): T | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [one, other] = [items[left], items[left + 1]];
      const isRight = one !== undefined && other !== undefined && this.#isBefore(other, one);
      const below = isRight ? other : one;
      if (below === undefined || !this.#isBefore(below, last)) break;
      items[place] = below;
      place = isRight ? left + 1 : left;
    }
    items[place] = last;
    return first;
  }
}
