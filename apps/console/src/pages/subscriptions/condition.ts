import type { Subscription } from './subscriptions.ts';

/**
 * How a subscription stands, in the order in which that needs attention: `missed` is on again, and lacks what came while it was off;
 * `waiting` has deliveries that nobody has tried to send for a while; `retrying` has attempts that fail now; `not known yet` is not
 * one of the others, unless it is `waiting` or `retrying`.
 */
const CONDITIONS = [
  'stopped',
  'switched off',
  'missed',
  'suspended',
  'paused',
  'waiting',
  'retrying',
  'not known yet',
  'active',
] as const;

export type SubscriptionCondition = (typeof CONDITIONS)[number];

/** How many of its deliveries wait, and are to be tried again; undefined until that is known. */
type Unfinished = { waiting: number | undefined; retrying: number | undefined };

export function conditionOf(subscription: Subscription, { waiting, retrying }: Unfinished): SubscriptionCondition {
  const { is_active: isActive, stopped, paused_until: pausedUntil, suspension, missed } = subscription;
  if (stopped !== undefined) return 'stopped';
  if (!isActive) return 'switched off';
  if (missed !== undefined && missed.count !== 0) return 'missed';
  if (suspension !== undefined) return 'suspended';
  if (pausedUntil !== undefined) return 'paused';
  if (waiting !== undefined && waiting > 0) return 'waiting';
  if (retrying !== undefined && retrying > 0) return 'retrying';
  return waiting === undefined || retrying === undefined ? 'not known yet' : 'active';
}

/** Comes before zero where the first needs attention sooner. */
export const byUrgency = (first: SubscriptionCondition, second: SubscriptionCondition): number =>
  CONDITIONS.indexOf(first) - CONDITIONS.indexOf(second);
