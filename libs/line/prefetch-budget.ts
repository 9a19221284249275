/**
 * How many messages each queue of a step may send before the first is settled: one budget over all queues, which
 * moves to where the traffic is. A queue that uses up its share gets twice as much, while there is room; where there
 * is none, a queue with less than half its fair share gets room from those that have more than theirs.
 */

import type { Message } from './messages.ts';

/** What a step holds at most, over all its queues: taken, and neither acknowledged nor given back. */
export type HeldLimit = {
  messages: number;
  bytes: number;
  /** What a message weighs once it is read, where that is more than it does as it comes. */
  weigh?: (message: Message) => number;
};

/** What a queue was granted, and what it did with that since the last review. */
export type QueueUse = {
  /** Messages, in the order they were granted: the first is the floor and stays; the last is given back first. */
  prefetches: readonly number[];
  /** Messages still held that came by grants which were given back. */
  owed: number;
  /** Messages held at most lately. */
  peak: number;
  /** Whether all that was granted was held at once. */
  wasFull: boolean;
  /** Mean size of recent messages, bytes. */
  meanBytes: number;
};

/** For the queue at that index. `shrink` gives back its newest grant. */
export type Move = { index: number } & ({ kind: 'grow'; by: number } | { kind: 'shrink' });

/** One part in so many of the budget is dealt out evenly and never moves, so that no queue waits for its first. */
const FLOOR_PART = 8;
const LEAST_FLOOR = 4;
/** A grant smaller than this part of what the queue has would be a consumer for next to nothing. */
const LEAST_GROWTH = 1 / 4;
/** Growth stops short of the bytes, so that a mean that wavers does not move grants to and fro. */
const GROWTH_BYTES_PART = 3 / 4;
/** A queue with more than so many times what it uses gives back, even if no other asks. */
const IDLE_RATIO = 4;

/** What each queue has from the start. With more queues than messages it is 1, and the sum exceeds the budget. */
export function floorOf(messages: number, queueCount: number): number {
  const even = Math.floor(messages / queueCount);
  return Math.max(1, Math.min(LEAST_FLOOR, even), Math.floor(even / FLOOR_PART));
}

/**
 * The moves that follow from a review. However they are applied, what is granted and owed stays within
 * `limit.messages`; and, once sizes are known, within `limit.bytes` but for floors and grants not yet given back.
 */
export function nextMoves(uses: readonly QueueUse[], limit: HeldLimit): Move[] {
  const queues = withShares(uses, limit);
  const shrinks = [...idle(queues), ...tooHeavy(queues, limit), ...takenForTheStarved(queues)];
  const shrunk = new Set(shrinks.map(({ index }) => index));
  return [...[...shrunk].map((index): Move => ({ kind: 'shrink', index })), ...growths(queues, shrunk, limit)];
}

/** Splits `total` so that no queue gets more than it wants, and none less than another but by wanting less. */
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

function withShares(uses: readonly QueueUse[], limit: HeldLimit): QueueDemand[] {
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

function tooHeavy(queues: readonly QueueDemand[], limit: HeldLimit): QueueDemand[] {
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

/** Smallest first. What is being given back is not there to be granted yet: that is the next review's. */
function growths(queues: readonly QueueDemand[], shrunk: ReadonlySet<number>, limit: HeldLimit): Move[] {
  let room = limit.messages - sum(queues.map(({ granted, owed }) => granted + owed));
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

/** Those with most above their share first, until they free as much as is missing. */
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

function bytesGranted({ granted, owed, meanBytes }: QueueDemand): number {
  return (granted + owed) * meanBytes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
