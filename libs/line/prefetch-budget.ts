/**
 * Divides one budget of prefetch over the queues of a step, following the traffic. A queue that uses up its share gets twice as much
 * while there is room. Without room, a queue with less than half its fair share gets some from queues that have more than theirs.
 */

import type { Message } from './messages.ts';

/** Limit of the unsettled messages of a step, over all its queues. */
export type InHandLimit = {
  messages: number;
  bytes: number;
  /** Returns the memory that a message takes once it is parsed, in bytes; its body's length if absent. */
  weigh?: (message: Message) => number;
};

/** The prefetches of a queue, and their use since the last review. */
export type QueueUse = {
  /** Prefetch counts, oldest first. The first is the floor and stays; the newest is cancelled first. */
  prefetches: readonly number[];
  /** Messages in hand, or still to come, of cancelled prefetches. */
  outstanding: number;
  /** Recent peak of messages in hand. */
  peak: number;
  /** Whether all prefetches were used up at once. */
  wasFull: boolean;
  /** Mean size of recent messages, bytes. */
  meanBytes: number;
};

/** A change for the queue at that index. `shrink` cancels its newest prefetch. */
export type Move = { index: number } & ({ kind: 'grow'; by: number } | { kind: 'shrink' });

/** An eighth of the budget is split evenly and never moves, so that no queue starts without prefetch. */
const FLOOR_PART = 8;
const LEAST_FLOOR = 4;
/** A queue grows by at least this part of what it has: each growth costs a consumer. */
const LEAST_GROWTH = 1 / 4;
/** Growth stops below the limit of bytes, so that small changes of the mean size move nothing. */
const GROWTH_BYTES_PART = 3 / 4;
/** A queue with more than four times its peak shrinks, even if no other needs it. */
const IDLE_RATIO = 4;

/** Returns the prefetch that each queue has from the start. With more queues than messages it is 1, and the sum exceeds the budget. */
export function floorOf(messages: number, queueCount: number): number {
  const even = Math.floor(messages / queueCount);
  return Math.max(1, Math.min(LEAST_FLOOR, even), Math.floor(even / FLOOR_PART));
}

/**
 * Returns the moves after a review. In whatever order they are applied, prefetched and outstanding messages stay within
 * `limit.messages`; once sizes are known, also within `limit.bytes`, except for floors and prefetches not yet cancelled.
 */
export function nextMoves(uses: readonly QueueUse[], limit: InHandLimit): Move[] {
  const queues = withShares(uses, limit);
  const shrinks = [...idle(queues), ...tooHeavy(queues, limit), ...takenForTheStarved(queues)];
  const shrunk = new Set(shrinks.map(({ index }) => index));
  return [...[...shrunk].map((index): Move => ({ kind: 'shrink', index })), ...growths(queues, shrunk, limit)];
}

/** Max-min fair split of `total`: no queue gets more than it wants, and less than another only if it wants less. */
export function maxMinShares(wants: readonly number[], total: number): number[] {
  let [left, level, waiting] = [total, 0, wants.length];
  for (const want of wants.toSorted((a, b) => a - b)) {
    level = left / waiting;
    if (want > level) break;
    left -= want;
    waiting -= 1;
    level = Infinity;
  }
  return wants.map((want) => Math.min(want, level));
}

type QueueDemand = QueueUse & { index: number; granted: number; demand: number; share: number; bytesShare: number };

function withShares(uses: readonly QueueUse[], limit: InHandLimit): QueueDemand[] {
  const queues = uses.map((use, index) => {
    const [granted, [floor = 0]] = [sum(use.prefetches), use.prefetches];
    return { ...use, index, granted, demand: use.wasFull ? Infinity : Math.max(floor, 2 * use.peak) };
  });
  const inMessages = maxMinShares(
    queues.map(({ demand }) => demand),
    limit.messages,
  );
  const inBytes = maxMinShares(
    queues.map(({ demand, meanBytes }) => (meanBytes === 0 ? 0 : demand * meanBytes)),
    limit.bytes,
  );
  return queues.map((queue, index) => {
    const bytesShare = queue.meanBytes === 0 ? Infinity : (inBytes[index] ?? 0) / queue.meanBytes;
    return { ...queue, bytesShare, share: Math.min(inMessages[index] ?? 0, bytesShare) };
  });
}

function idle(queues: readonly QueueDemand[]): QueueDemand[] {
  return queues.filter((queue) => canShrink(queue) && queue.granted > IDLE_RATIO * queue.peak);
}

function tooHeavy(queues: readonly QueueDemand[], limit: InHandLimit): QueueDemand[] {
  const excess = sum(queues.map(bytesGranted)) - limit.bytes;
  const over = queues.filter((queue) => canShrink(queue) && queue.granted > queue.bytesShare);
  return enoughOf(over, excess, (queue) => newest(queue) * queue.meanBytes);
}

function takenForTheStarved(queues: readonly QueueDemand[]): QueueDemand[] {
  const starved = queues.filter(({ wasFull, granted, share }) => wasFull && granted < share / 2);
  const missing = sum(starved.map(({ granted }) => granted));
  const over = queues.filter((queue) => canShrink(queue) && queue.granted > queue.share);
  return enoughOf(over, missing, newest);
}

/** Grows the smallest first. Room freed by this review's shrinks is used by the next. */
function growths(queues: readonly QueueDemand[], shrunk: ReadonlySet<number>, limit: InHandLimit): Move[] {
  let room = limit.messages - sum(queues.map(({ granted, outstanding }) => granted + outstanding));
  let roomBytes = limit.bytes * GROWTH_BYTES_PART - sum(queues.map(bytesGranted));
  const moves: Move[] = [];
  for (const queue of queues.toSorted((a, b) => a.granted - b.granted)) {
    const { index, granted, share, meanBytes } = queue;
    if (!queue.wasFull || shrunk.has(index)) continue;
    const by = Math.floor(Math.min(granted, share - granted, room, meanBytes === 0 ? Infinity : roomBytes / meanBytes));
    if (by < Math.max(1, granted * LEAST_GROWTH)) continue;
    room -= by;
    roomBytes -= by * meanBytes;
    moves.push({ kind: 'grow', index, by });
  }
  return moves;
}

/** Chooses queues, those farthest above their share first, until they free `missing`. */
function enoughOf(over: readonly QueueDemand[], missing: number, freed: (queue: QueueDemand) => number): QueueDemand[] {
  const chosen: QueueDemand[] = [];
  let left = missing;
  for (const queue of over.toSorted((a, b) => b.granted - b.share - (a.granted - a.share))) {
    if (left <= 0) break;
    chosen.push(queue);
    left -= freed(queue);
  }
  return chosen;
}

function canShrink({ prefetches }: QueueDemand): boolean {
  return prefetches.length > 1;
}

function newest({ prefetches }: QueueDemand): number {
  return prefetches.at(-1) ?? 0;
}

function bytesGranted({ granted, outstanding, meanBytes }: QueueDemand): number {
  return (granted + outstanding) * meanBytes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
