import type { ParkedDemand } from './endpoint.ts';
import { PROBE_LEAST_MS, type KnownEndpoint } from './known-endpoint.ts';

const MOST_ROWS = 64;

type DemandOptions = { now: number; maySeveralProbe: boolean; hasSlot: (endpoint: KnownEndpoint) => boolean };

/**
 * How many parked deliveries an endpoint can take now: so many that twice its window is in hand, one while it is hung, none
 * while it rests. `slot`: the endpoint waits for a slot that others hold.
 */
export function parkedDemand(
  endpoint: KnownEndpoint,
  { now, maySeveralProbe, hasSlot }: DemandOptions,
): ParkedDemand | 'slot' {
  const { window, waiting, hungSince, restsUntil } = endpoint;
  if (restsUntil > now) return { rows: 0, askAt: restsUntil };
  const inHand = waiting.countOf('parked');
  if (inHand >= (hungSince === undefined ? window.size : 1)) return { rows: 0 };
  if (hungSince !== undefined && !endpoint.mayBegin(now, maySeveralProbe)) {
    const dueAt = endpoint.probeDueAt();
    return { rows: 0, askAt: dueAt > now ? dueAt : now + PROBE_LEAST_MS };
  }
  if (!hasSlot(endpoint)) return 'slot';
  return { rows: hungSince === undefined ? Math.min(2 * window.size - inHand, MOST_ROWS) : 1 };
}
