/** Subscriptions that get nothing now, or missed something: switched off, stopped, paused, or held back from being switched off. */
import { ms } from '@waybell/delivery-log/tables';
import type { ListenerOption } from '@waybell/delivery-log/listener-client';
import type { SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import { noticeAsJson, type OperationsNotice } from '@waybell/line/operations-notice';
import type { Queryable } from '@waybell/runtime/postgres';
import { MISSED_FROM, MISSED_TO, NOTED_MISSED } from './by-hand/missed.ts';

/** A subscription that gets nothing now, or missed something that was not replayed. Times are milliseconds since the epoch. */
export type Interrupted = Pick<
  SubscriptionEntry,
  'subscription' | 'account' | 'client' | 'interface' | 'action' | 'url'
> & {
  state: 'off' | 'stopped' | 'paused' | 'missed';
  since: number | null;
  until: number | null;
  /** The rule that switched it off, or why an operator stopped it or its host. */
  reason: string | null;
  /** Missed events since: as many as the delivery log knows, up to 1,000 of a kind; null if everything waits. */
  missed: number | null;
};

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
export type HeldBack = RuledSubscription & {
  heldAt: number;
  /** Set if it had been switched off before the surge was noticed: it was off from then until it was held. */
  offFrom: number | null;
};

/** Selects those of one account, or of all. */
type AccountQuery = { account?: string | undefined; limit: number };

const isOfAccount = (column: string) => `($1::uuid is null or ${column} = $1)`;

/** The latest first. Rows are found by indexes: those that `k` has no state for are few. */
const INTERRUPTED = `
  select subscription, account, client, interface, action, url, state, ${ms('since')} as since, ${ms('until')} as until, reason,
    case when state = 'off' then waybell.count_missed(subscription, since, missed_since, now()) else missed end as missed
  from (
    select s.guid as subscription, s.account_guid as account, s.client_id as client, s.interface, s.action,
      split_part(s.callback_url, '?', 1) as url, k.state,
      case k.state when 'off' then s.deactivated_at when 'stopped' then coalesce(s.stopped_at, h.stopped_at)
        when 'missed' then ${MISSED_FROM} end as since,
      case k.state when 'paused' then s.paused_until when 'missed' then ${MISSED_TO} end as until,
      case k.state when 'off' then s.deactivation_rule
        when 'stopped' then case when s.stopped_at is not null then s.stopped_reason else h.reason end end as reason,
      greatest(coalesce(case when s.missed_replayed_at is null then s.missed_since end,
        least(s.failing_since, s.deactivated_at) - interval '1 minute'), s.created_at) as missed_since,
      c.missed
    from waybell.subscriptions s left join waybell.stopped_hosts h on h.host = waybell.host_of(s.callback_url)
    cross join lateral (select case when not s.is_active then 'off' when s.stopped_at is not null or h.host is not null then 'stopped'
      when s.paused_until > now() then 'paused' when ${NOTED_MISSED} is not null then 'missed' end as state) k
    cross join lateral (select case k.state when 'missed' then waybell.count_missed(s.guid, greatest(s.missed_since, s.created_at),
      greatest(s.missed_since, s.created_at), least(s.missed_until, now())) end as missed) c
    where s.ended_at is null
      and (not s.is_active or s.stopped_at is not null or s.paused_until is not null or s.missed_since is not null
        or waybell.host_of(s.callback_url) = any (array(select host from waybell.stopped_hosts)))
      and ($3 or not waybell.is_listener(s.client_id)) and ${isOfAccount('s.account_guid')} and k.state is not null
      and c.missed is distinct from 0
    order by 8 desc nulls first, s.guid limit $2
  ) found`;

export async function interruptedSubscriptions(
  postgres: Queryable,
  { account, withListeners = false, limit }: AccountQuery & ListenerOption,
): Promise<Interrupted[]> {
  return (await postgres.query<Interrupted>(INTERRUPTED, [account ?? null, limit, withListeners])).rows;
}

const SUBSCRIPTION = `s.guid as subscription, s.account_guid as account, s.client_id as client, s.interface, s.action,
  split_part(s.callback_url, '?', 1) as url, ${ms('s.created_at')} as "createdAt"`;

/** Finds subscriptions that are off now, of one account or of all, the latest first. */
export async function subscriptionsSwitchedOff(
  postgres: Queryable,
  { account, limit }: AccountQuery,
): Promise<SwitchedOff[]> {
  const { rows } = await postgres.query<SwitchedOff>(
    `select ${SUBSCRIPTION}, ${ms('s.deactivated_at')} as "switchedOffAt", s.deactivation_rule as rule,
       s.deactivated_by as delivery
     from waybell.subscriptions s
     where not s.is_active and s.ended_at is null and s.deactivated_at is not null and ${isOfAccount('s.account_guid')}
     order by s.deactivated_at desc, s.guid limit $2`,
    [account ?? null, limit],
  );
  return rows;
}

/** True for deactivations that are held (`services/deactivator/switch-off.sql`). */
export const IS_HELD_BACK = 'd.held_at is not null and not d.is_released';

/** Finds subscriptions that are held now, of one account or of all, the earliest first. */
export async function subscriptionsHeldBack(
  postgres: Queryable,
  { account, limit }: AccountQuery,
): Promise<HeldBack[]> {
  const { rows } = await postgres.query<HeldBack>(
    `select ${SUBSCRIPTION}, ${ms('d.held_at')} as "heldAt", ${ms('d.off_from')} as "offFrom", d.rule, d.delivery
     from waybell.due_deactivations d join waybell.subscriptions s on s.guid = d.subscription
     where ${IS_HELD_BACK} and ${isOfAccount('s.account_guid')} order by d.held_at, s.guid limit $2`,
    [account ?? null, limit],
  );
  return rows;
}

/** Counts the subscriptions that are held now. */
export async function countHeldBack(postgres: Queryable): Promise<number> {
  const { rows } = await postgres.query<{ held: number }>(
    `select count(*)::int as held from waybell.due_deactivations d where ${IS_HELD_BACK}`,
  );
  return rows[0]?.held ?? 0;
}

const NOTICES = `
  select ${noticeAsJson} as notice from waybell.notices where ${isOfAccount('account')} order by at desc, guid limit $2`;

/** Returns the latest notices for the platform, the newest first. */
export async function latestNotices(
  postgres: Queryable,
  { account, limit }: AccountQuery,
): Promise<OperationsNotice[]> {
  const { rows } = await postgres.query<{ notice: OperationsNotice }>(NOTICES, [account ?? null, limit]);
  return rows.map(({ notice }) => notice);
}
