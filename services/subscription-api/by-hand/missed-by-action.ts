/** Counts a client's missed deliveries in a time range, over all its actions. */
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { LARGEST_REPLAY } from '@waybell/delivery-log/read/limits';
import { subscriptionsOf } from '@waybell/delivery-log/read/subscriptions';
import type { Queryable } from '@waybell/runtime/postgres';
import { currentSubscriptions } from './ask.ts';
import { findMissed, type Missed } from './missed.ts';
import { reasonsOf, type ReasonCount } from './replays.ts';

export type MissedOfAction = {
  action: string;
  /** The current subscription to it, which a replay is sent to; null without one. */
  subscription: string | null;
  isActive: boolean;
  /** Deliveries that were given up, deliveries that were dropped, and events that no delivery was made of. */
  exhausted: number;
  dropped: number;
  suppressed: number;
  /** Others of all three kinds, whose body is no longer kept: nothing can send them. */
  gone: number;
  /** Why the first three were missed. */
  reasons: ReasonCount[];
};

export type MissedByAction = {
  actions: MissedOfAction[];
  /** Milliseconds since the epoch: only missed deliveries before this are counted, as many as one replay sends. Null: all are. */
  countedUntilMs: number | null;
};

type MissedRange = { client: ClientReader; sinceMs: number; untilMs: number };

/**
 * Counts missed deliveries that did not arrive since, nor are on their way: of actions that the client was subscribed to at some
 * time of the range, or is now. By action, without those without missed deliveries.
 */
export async function missedByAction(
  postgres: Queryable,
  range: MissedRange,
  limit: number = LARGEST_REPLAY,
): Promise<MissedByAction> {
  const { account, client } = range.client;
  const all = await subscriptionsOf(postgres, { account, client });
  const subscribed = all.filter(({ endedAt }) => endedAt === null || endedAt > range.sinceMs);
  const actions = [...new Set(subscribed.map(({ action }) => action))].toSorted();
  const query = { ...range, actions, includesSuppressed: true, includesGone: true, limit };
  const missed = await findMissed(postgres, query);
  const current = await currentSubscriptions(postgres, range.client, '*');
  const entries = actions.map((action) => {
    const { guid = null, is_active: isActive = false } = current.find((each) => each.action === action) ?? {};
    return { action, subscription: guid, isActive, ...countsOf(missed.filter((each) => each.action === action)) };
  });
  return {
    actions: entries.filter(
      ({ exhausted, dropped, suppressed, gone: lost }) => exhausted + dropped + suppressed + lost > 0,
    ),
    countedUntilMs: missed[limit - 1]?.at ?? null,
  };
}

function countsOf(all: readonly Missed[]) {
  const missed = all.filter(({ isKept }) => isKept);
  const of = (status: string) =>
    missed.filter((each) => (each.kind === 'failed' ? each.status : each.kind) === status).length;
  return {
    exhausted: of('exhausted'),
    dropped: of('dropped'),
    suppressed: of('suppressed'),
    gone: all.length - missed.length,
    reasons: reasonsOf(missed),
  };
}
