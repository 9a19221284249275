import type { Demand } from './endpoint.ts';
import type { KnownEndpoint } from './known-endpoint.ts';

const MOST_ROWS = 64;

type DemandOptions = { now: number; maySeveralProbe: boolean; hasSlot: (endpoint: KnownEndpoint) => boolean };

/**
 * Returns how many deliveries an endpoint can take now out of its room: up to twice its window together with those in hand, one
 * while it is hung, none while it rests.
 */
export function demandOf(endpoint: KnownEndpoint, { now, maySeveralProbe, hasSlot }: DemandOptions): Demand {
  const { window, waiting, hungSince, restsUntil } = endpoint;
  if (restsUntil > now) return { rows: 0, askAt: restsUntil };
  const inHand = waiting.countOf('waited');
  if (inHand >= (hungSince === undefined ? window.size : 1)) return { rows: 0 };
  if (hungSince !== undefined && !endpoint.mayBegin(now, maySeveralProbe)) {
    return { rows: 0, askAt: endpoint.askForProbeAt(now) };
  }
  if (!hasSlot(endpoint)) return { rows: 0, lacksSlot: true };
  return { rows: hungSince === undefined ? Math.min(2 * window.size - inHand, MOST_ROWS) : 1 };
}
