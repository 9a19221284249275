/** Replays that were asked for, and how far they have come. */
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { LISTED_REPLAYS } from '@waybell/delivery-log/read/limits';
import type { Queryable } from '@waybell/runtime/postgres';

export type AskedReplay = {
  guid: string;
  /** Or the pattern that was asked for. */
  action: string;
  since: Date;
  until: Date;
  include_suppressed: boolean;
  per_second: number;
  total: number;
  requested_at: Date;
  requested_by: 'client' | 'operator';
  cancelled_at: Date | null;
};
/** A replay with its progress, which takes a look at each of its deliveries. */
export type Replay = AskedReplay & { published: number; delivered: number };

/** Formats the requester, for `requested_by` of deliveries sent by hand. */
export const requester = (who: string, isOperator: boolean): string => `${isOperator ? 'operator ' : ''}${who}`;

const COLUMNS = `r.guid, r.action, r.since, r.until, r.include_suppressed, r.per_second, r.total, r.requested_at,
  case when r.requested_by like 'operator %' then 'operator' else 'client' end as requested_by, r.cancelled_at`;

/** Returns the client's latest replays, newest first; at most LISTED_REPLAYS. */
export async function latestReplays(postgres: Queryable, { account, client }: ClientReader): Promise<AskedReplay[]> {
  const { rows } = await postgres.query<AskedReplay>(
    `select ${COLUMNS} from delivery_log.replays r where account = $1 and client = $2 order by requested_at desc, guid limit $3`,
    [account, client, LISTED_REPLAYS],
  );
  return rows;
}

/** Returns the progress of a replay; undefined if it is not the client's. */
export async function replayOf(
  postgres: Queryable,
  guid: string,
  { account, client }: ClientReader,
): Promise<Replay | undefined> {
  const { rows } = await postgres.query<Replay>(
    `select ${COLUMNS},
       count(s.published_at)::int as published,
       count(*) filter (where exists (
         select from delivery_log.attempts m
         where m.delivery = s.delivery and m.kind = 'delivered' and m.attempt >= s.from_attempt))::int as delivered
     from delivery_log.replays r left join delivery_log.sendings s on s.replay = r.guid
     where r.guid = $1 and r.account = $2 and r.client = $3 group by r.guid`,
    [guid, account, client],
  );
  return rows[0];
}

/** Cancels deliveries that are not published yet. Those that the delivery log has claimed may be on their way, and are sent. */
export async function cancelReplay(
  postgres: Queryable,
  guid: string,
  client: ClientReader,
): Promise<Replay | undefined> {
  await postgres.query(
    `with cancelled as (
       update delivery_log.replays set cancelled_at = coalesce(cancelled_at, now())
       where guid = $1 and account = $2 and client = $3 returning guid
     )
     delete from delivery_log.sendings s using cancelled c
     where s.replay = c.guid and s.published_at is null and (s.claimed_until is null or s.claimed_until < now())`,
    [guid, client.account, client.client],
  );
  return replayOf(postgres, guid, client);
}
