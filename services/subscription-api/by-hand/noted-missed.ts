/** Periods that subscriptions missed while they were off, until a replay is requested. */
import { ms, time } from '@waybell/delivery-log/columns';
import { IS_LATE } from '@waybell/delivery-log/tables';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Queryable } from '@waybell/runtime/postgres';

/** In milliseconds since the epoch: the searched time range, and within it that from the first failure until the subscription was on again. */
export type NotedMissed = {
  sinceMs: number;
  untilMs: number;
  offMs: number;
  onMs: number;
  /** Whether the range is over. */
  isOver: boolean;
};

/** Shown of `s`: without the minutes by which the range is wider. */
export const MISSED_FROM = `greatest(s.missed_since + interval '1 minute', s.created_at)`;
export const MISSED_TO = `least(s.missed_until - interval '1 minute', now())`;

/**
 * A NotedMissed, or null, of the subscription `s`: nothing of before it was subscribed. It ends a minute after the subscription was
 * switched on again. The delivery log may not have all of it by the time of a replay: what was replayed is missed once more when that minute
 * is over, and when the log got something of that time later still. A replay sends only what is missing.
 */
export const NOTED_MISSED = `case
  when s.missed_replayed_at is null and (s.missed_since < s.missed_until - interval '2 minutes' or s.missed_until <= now())
    or s.missed_replayed_at < s.missed_until and s.missed_until <= now()
    or exists (
      select from delivery_log.commits
      where at > s.missed_replayed_at - interval '1 minute' and first_at < s.missed_until
        and last_at >= s.missed_since and ${IS_LATE})
  then json_build_object('sinceMs', ${ms('greatest(s.missed_since, s.created_at)')}, 'untilMs', ${ms('least(s.missed_until, now())')},
    'offMs', ${ms(MISSED_FROM)}, 'onMs', ${ms(MISSED_TO)}, 'isOver', s.missed_until <= now()) end`;

const OF_CURRENT = `
  from waybell.subscriptions s
  where s.guid = $1 and s.account_guid = $2 and s.client_id = $3 and s.interface = $4 and s.ended_at is null`;

const SETTLE = `
  update waybell.subscriptions set missed_since = coalesce(${time('$2')} - interval '1 minute', missed_since),
    missed_replayed_at = case when $2::float8 is null then now() end
  where guid = $1`;

/** Reads it of a client's current subscription; locked, no other replay of it begins until the end of the transaction. */
export async function notedMissed(
  postgres: Queryable,
  { subscription, client }: { subscription: string; client: ClientReader },
  { isLocked }: { isLocked: boolean },
): Promise<NotedMissed | undefined> {
  const { rows } = await postgres.query<{ missed: NotedMissed | null }>(
    `select ${NOTED_MISSED} as missed ${OF_CURRENT} ${isLocked ? 'for no key update' : ''}`,
    [subscription, client.account, client.client, client.interface],
  );
  return rows[0]?.missed ?? undefined;
}

/** Settles those of which nothing is missing: nobody has to ask for an empty replay. What the delivery log gets later is noted again. */
export const SETTLE_EMPTY = `
  update waybell.subscriptions set missed_replayed_at = now() where guid = any ($1::uuid[]) and missed_until <= now()`;

/** Notes that it is replayed up to this time; without one, all of it. */
export async function settleMissed(postgres: Queryable, subscription: string, upToMs: number | null): Promise<void> {
  await postgres.query(SETTLE, [subscription, upToMs]);
}
