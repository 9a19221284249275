import type { Subscription } from './subscriptions.ts';

/**
 * The conditions of subscriptions, the most urgent first. `missed`: it is on again, but lacks what came while it was off. `waiting`: it has
 * deliveries without an attempt for a while. `retrying`: its attempts fail now. `not known yet`: it may be `waiting` or `retrying`, and is
 * none of those before.
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

/** How many deliveries of a subscription wait and are retried; undefined until that is known. */
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

/** Sorts the more urgent first. */
export const byUrgency = (first: SubscriptionCondition, second: SubscriptionCondition): number =>
  CONDITIONS.indexOf(first) - CONDITIONS.indexOf(second);
