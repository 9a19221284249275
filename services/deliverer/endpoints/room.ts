import type { Room } from './endpoint.ts';
import { PROBE_LEAST_MS, type KnownEndpoint } from './known-endpoint.ts';

/** What is asked for at most. */
const MOST_ROWS = 64;

export type Surroundings = { now: number; maySeveralProbe: boolean; hasPlace: (endpoint: KnownEndpoint) => boolean };

/**
 * How many parked deliveries of an endpoint are wanted: so many that twice its window is in hand, one of a hung one, none
 * of one that rests; or that it lacks a place which others hold.
 */
export function roomOf(endpoint: KnownEndpoint, { now, maySeveralProbe, hasPlace }: Surroundings): Room | 'place' {
  const { window, waiting, hungSince, restsUntil } = endpoint;
  if (restsUntil > now) return { rows: 0, askAt: restsUntil };
  const inHand = waiting.countOf('parked');
  if (inHand >= (hungSince === undefined ? window.size : 1)) return { rows: 0 };
  if (hungSince !== undefined && !endpoint.mayBegin(now, maySeveralProbe)) {
    const dueAt = endpoint.probeDueAt();
    return { rows: 0, askAt: dueAt > now ? dueAt : now + PROBE_LEAST_MS };
  }
  if (!hasPlace(endpoint)) return 'place';
  return { rows: hungSince === undefined ? Math.min(2 * window.size - inHand, MOST_ROWS) : 1 };
}
