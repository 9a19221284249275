import { constant, count, duration } from '@waybell/runtime/environment';
import type { EndpointsOptions } from './endpoints.ts';

/** Limits for endpoints, so that none holds up the others. Reasons: docs/decisions/0004-flow.md. */
export const endpointSettings = {
  DELIVER_WINDOW: count({
    per: 'endpoint',
    default: 64,
    desc: 'requests under way at once to one endpoint; up to twice that while deliveries for it wait in Postgres',
  }),
  DELIVER_UNPROVEN_PERCENT: constant(
    count({
      per: 'process',
      default: 20,
      desc: 'share of the slots, at most, for endpoints that are new or hang; half of it for those that hang',
    }),
  ),
  DELIVER_SLOW: constant(
    duration({
      default: 1_000,
      desc: 'an endpoint that says nothing for longer than this, and than three times as long as usual, is taken to hang',
    }),
  ),
  DELIVER_PATIENCE: constant(
    duration({
      // A little longer than DELIVER_SLOW: a delivery that waits behind a hanging request may be the next probe.
      default: 1_100,
      desc: 'how long a delivery waits in hand for its endpoint before it waits in its room',
    }),
  ),
  DELIVER_ENDPOINTS: constant(
    count({
      per: 'process',
      default: 100_000,
      desc: 'endpoints that are remembered, with how they answer',
    }),
  ),
};

/** Share of the slots for slow, new and hung endpoints together. The other half is for quick ones. */
const SLOW_SHARE = 0.5;
const FORGET_AFTER_MS = 3_600_000;
/** Share of the deliveries held that may wait in hand for one endpoint. */
const IN_HAND_PART = 1 / 16;

type EndpointSettings = { [name in keyof typeof endpointSettings | 'DELIVER_SLOTS']: number };

/** `held`: how many deliveries may be held at once. */
export function readEndpoints(settings: EndpointSettings, held: number): EndpointsOptions {
  const unproven = settings.DELIVER_UNPROVEN_PERCENT / 100;
  const slots = settings.DELIVER_SLOTS;
  return {
    slots,
    shares: { hung: unproven / 2, new: unproven, slow: Math.max(SLOW_SHARE, unproven) },
    maxSize: Math.min(settings.DELIVER_WINDOW, slots),
    slowMs: settings.DELIVER_SLOW,
    maxWaitMs: settings.DELIVER_PATIENCE,
    maxInHandEach: Math.max(1, Math.floor(held * IN_HAND_PART)),
    maxInHand: 2 * slots,
    maxEndpoints: settings.DELIVER_ENDPOINTS,
    forgetAfterMs: FORGET_AFTER_MS,
  };
}
