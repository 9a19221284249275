import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '@waybell/delivery-log/columns';
import type { SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';

/** A subscription to which a rule applied. Times are milliseconds since the epoch. */
type RuledSubscription = Pick<
  SubscriptionEntry,
  'subscription' | 'account' | 'client' | 'interface' | 'action' | 'url' | 'createdAt'
> & {
  rule: 'exhausted' | 'window';
  /** The delivery that caused it, if known. */
  delivery: string | null;
};

/** A subscription that was switched off and not subscribed again. */
export type SwitchedOff = RuledSubscription & { switchedOffAt: number };

/** A subscription that would be off, but so many were due at once that the fault may be ours. */
export type Held = RuledSubscription & {
  heldAt: number;
  /** Set if it had been switched off before the surge was noticed: it was off from then until it was held. */
  offFrom: number | null;
};

type SwitchedOffQuery = { account?: string | undefined; limit: number };

const SUBSCRIPTION = `s.guid as subscription, s.account_guid as account, s.client_id as client, s.interface, s.action,
  split_part(s.callback_url, '?', 1) as url, ${ms('s.created_at')} as "createdAt"`;
const OF_ACCOUNT = '($1::uuid is null or s.account_guid = $1)';

/** Finds subscriptions that are off now, of one account or of all, the latest first. */
export async function subscriptionsSwitchedOff(
  postgres: Queryable,
  { account, limit }: SwitchedOffQuery,
): Promise<SwitchedOff[]> {
  const { rows } = await postgres.query<SwitchedOff>(
    `select ${SUBSCRIPTION}, ${ms('s.deactivated_at')} as "switchedOffAt", s.deactivation_rule as rule,
       s.deactivated_by as delivery
     from waybell.subscriptions s
     where not s.is_active and s.ended_at is null and s.deactivated_at is not null and ${OF_ACCOUNT}
     order by s.deactivated_at desc, s.guid limit $2`,
    [account ?? null, limit],
  );
  return rows;
}

/** True for deactivations that are held (`services/deactivator/switch-off.sql`). */
export const IS_HELD = 'd.held_at is not null and not d.is_released';

/** Finds subscriptions that are held now, of one account or of all, the earliest first. */
export async function subscriptionsHeld(postgres: Queryable, { account, limit }: SwitchedOffQuery): Promise<Held[]> {
  const { rows } = await postgres.query<Held>(
    `select ${SUBSCRIPTION}, ${ms('d.held_at')} as "heldAt", ${ms('d.off_from')} as "offFrom", d.rule, d.delivery
     from waybell.due_deactivations d join waybell.subscriptions s on s.guid = d.subscription
     where ${IS_HELD} and ${OF_ACCOUNT} order by d.held_at, s.guid limit $2`,
    [account ?? null, limit],
  );
  return rows;
}

/** Counts the subscriptions that are held now. */
export async function countHeld(postgres: Queryable): Promise<number> {
  const { rows } = await postgres.query<{ held: number }>(
    `select count(*)::int as held from waybell.due_deactivations d where ${IS_HELD}`,
  );
  return rows[0]?.held ?? 0;
}
