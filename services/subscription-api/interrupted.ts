import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '@waybell/delivery-log/columns';
import type { ToldListeners } from '@waybell/delivery-log/listener-client';
import { noticeAsJson, type OperationsNotice } from '@waybell/line/operations-notice';
import type { SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import { MISSED_FROM, MISSED_TO, NOTED_MISSED } from './by-hand/noted-missed.ts';

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

type InterruptedQuery = { account?: string | undefined; limit: number } & ToldListeners;

const OF_ACCOUNT = (column: string) => `($1::uuid is null or ${column} = $1)`;

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
      and ($3 or not waybell.is_listener(s.client_id)) and ${OF_ACCOUNT('s.account_guid')} and k.state is not null
      and c.missed is distinct from 0
    order by 8 desc nulls first, s.guid limit $2
  ) found`;

export async function interruptedSubscriptions(
  postgres: Queryable,
  { account, withListeners = false, limit }: InterruptedQuery,
): Promise<Interrupted[]> {
  return (await postgres.query<Interrupted>(INTERRUPTED, [account ?? null, limit, withListeners])).rows;
}

const NOTICES = `
  select ${noticeAsJson} as notice from waybell.notices where ${OF_ACCOUNT('account')} order by at desc, guid limit $2`;

/** Returns the latest notices for the platform, the newest first. */
export async function latestNotices(
  postgres: Queryable,
  { account, limit }: InterruptedQuery,
): Promise<OperationsNotice[]> {
  const { rows } = await postgres.query<{ notice: OperationsNotice }>(NOTICES, [account ?? null, limit]);
  return rows.map(({ notice }) => notice);
}
