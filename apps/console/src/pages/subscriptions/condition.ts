import type { Subscription } from './subscribing.ts';

/** How a subscription stands, in the order in which that needs attention: `missed` is on again, and lacks what came while it was off; `retrying` has attempts that fail now. */
const CONDITIONS = ['stopped', 'switched off', 'missed', 'suspended', 'paused', 'retrying', 'active'] as const;

export type SubscriptionCondition = (typeof CONDITIONS)[number];

/** `retrying`: how many of its deliveries are to be tried again. */
export function conditionOf(subscription: Subscription, retrying: number): SubscriptionCondition {
  const { is_active: isActive, stopped, paused_until: pausedUntil, suspension, missed } = subscription;
  if (stopped !== undefined) return 'stopped';
  if (!isActive) return 'switched off';
  if (missed !== undefined && missed.count !== 0) return 'missed';
  if (suspension !== undefined) return 'suspended';
  if (pausedUntil !== undefined) return 'paused';
  return retrying > 0 ? 'retrying' : 'active';
}

/** Comes before zero where the first needs attention sooner. */
export const byUrgency = (first: SubscriptionCondition, second: SubscriptionCondition): number =>
  CONDITIONS.indexOf(first) - CONDITIONS.indexOf(second);
