// Lists of few items, in insertion order. Each of 100,000 endpoints has several, mostly empty: these all are one array.

const NONE: never[] = [];

export function emptyList<T>(): T[] {
  return NONE;
}

/** Adds an item to a list of `emptyList`; to be stored in its place. */
export function withItem<T>(items: T[], item: T): T[] {
  if (items.length === 0) return [item];
  items.push(item);
  return items;
}

/** Removes an item, if it is there; to be stored in the list's place. */
export function withoutItem<T>(items: T[], item: T): T[] {
  const at = items.indexOf(item);
  if (at === -1) return items;
  if (items.length === 1) return NONE;
  items.splice(at, 1);
  return items;
}
