import { setFlagsFromString } from 'node:v8';

export const HEAP_GROWTH = '--heap-growing-percent=100';

/**
 * Lets the heap double before V8 collects all of it again. A busy router or delivery log has many objects that die old, and V8 would
 * collect them every second. Not for deliverers: with the largest bodies for 10,000 endpoints they would need more than is promised.
 * V8 reads it at each collection.
 */
export function growHeap(): void {
  setFlagsFromString(HEAP_GROWTH);
}
