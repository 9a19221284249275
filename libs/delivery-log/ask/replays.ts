/** Replays: all that a subscription did not get in a stretch of time, sent again at a rate. */
import { randomUUID } from 'node:crypto';
import { unattempted } from '@waybell/line/reasons';
import type { Queryable } from '@waybell/runtime/postgres';
import { isUnderWay, refused, targetOf, type Refused } from './by-hand.ts';
import type { ClientReader } from '../read/entries.ts';
import { LARGEST_REPLAY, LISTED_REPLAYS } from '../read/limits.ts';

export type ReplayRequest = { subscription: string; sinceMs: number; untilMs: number; perSecond: number };
export type AskedReplay = {
  guid: string;
  subscription: string;
  since: Date;
  until: Date;
  per_second: number;
  total: number;
  requested_at: Date;
  cancelled_at: Date | null;
};
/** With how far it has come, which takes a look at each of its deliveries. */
export type Replay = AskedReplay & { published: number; delivered: number };

const UNATTEMPTED = `array[${unattempted.map((reason) => `'${reason}'`).join(', ')}]`;

/** What did not arrive, the oldest first: the last that is known of it is that it was given up, and its body is still there. */
const IN_VAIN = `
  select delivery, event, row_number() over (order by at, delivery) as place,
    1 + coalesce((select max(m.attempt) from delivery_log.attempts m
      where m.delivery = oldest.delivery and m.kind <> 'dropped' and coalesce(m.reason, '') <> all (${UNATTEMPTED})), 0) as from_attempt
  from (
    select a.delivery, a.at, d.event from delivery_log.attempts a
    cross join lateral (
      select (array_agg(event))[1] as event, bool_or(attempted_at is not null) as is_delivered
      from delivery_log.deliveries where delivery = a.delivery having count(*) > 0
    ) d
    where not d.is_delivered and a.subscription = $1 and a.kind in ('exhausted', 'dropped') and a.by_hand is distinct from 'test'
      and a.at >= $2 and a.at < $3
      and not exists (
        select from delivery_log.attempts m
        where m.delivery = a.delivery and (m.kind = 'delivered' or (m.at, m.attempt) > (a.at, a.attempt)))
      and exists (select from delivery_log.bodies b where b.delivery = a.delivery)
      and not ${isUnderWay('a.delivery')}
    order by a.at, a.delivery limit $4
  ) oldest`;

/** How many deliveries a replay would send again; not more than one request can ask for. */
export async function countReplay(
  postgres: Queryable,
  request: ReplayRequest,
  client: ClientReader,
): Promise<number | Refused> {
  const action = await actionOf(postgres, request.subscription, client);
  if (action === undefined) return refused('not_found');
  const { rows } = await postgres.query<{ total: number }>(`select count(*)::int as total from (${IN_VAIN}) in_vain`, [
    request.subscription,
    new Date(request.sinceMs),
    new Date(request.untilMs),
    LARGEST_REPLAY,
  ]);
  return rows[0]?.total ?? 0;
}

/**
 * Asks for all to be sent again that a subscription, ended ones too, did not get in a stretch of time: to whom is subscribed
 * to its action now, at this rate. To be run in a transaction.
 */
export async function askForReplay(
  postgres: Queryable,
  request: ReplayRequest & { client: ClientReader; by: string },
  largest: number = LARGEST_REPLAY,
): Promise<{ kind: 'asked'; guid: string } | Refused> {
  const { subscription, client, by, perSecond } = request;
  const action = await actionOf(postgres, subscription, client);
  if (action === undefined) return refused('not_found');
  const target = await targetOf(postgres, client, action);
  if ('kind' in target) return target;
  const guid = randomUUID();
  const whose = [client.interface, action, client.account, client.client, target.guid, target.generation];
  const [since, until] = [new Date(request.sinceMs), new Date(request.untilMs)];
  await postgres.query(
    `insert into delivery_log.replays (guid, account, client, subscription, since, until, per_second, total, requested_by)
     values ($1, $2, $3, $4, $5, $6, $7, 0, $8)`,
    [guid, client.account, client.client, subscription, since, until, perSecond, by],
  );
  const { rowCount } = await postgres.query(
    `insert into delivery_log.sendings (guid, why, replay, delivery, event, interface, action, account, client, subscription,
       generation, from_attempt, requested_by, due_at)
     select gen_random_uuid(), 'resend', $5, delivery, event, $6, $7, $8, $9, $10, $11, from_attempt, $12,
       now() + (place - 1) * interval '1 second' / $13::int
     from (${IN_VAIN}) in_vain
     on conflict (delivery) where published_at is null do nothing`,
    [subscription, since, until, largest, guid, ...whose, by, perSecond],
  );
  await postgres.query('update delivery_log.replays set total = $2 where guid = $1', [guid, rowCount]);
  return { kind: 'asked', guid };
}

/** What the client asked for last, the newest first; LISTED_REPLAYS at most. */
export async function latestReplays(postgres: Queryable, { account, client }: ClientReader): Promise<AskedReplay[]> {
  const { rows } = await postgres.query<AskedReplay>(
    `select guid, subscription, since, until, per_second, total, requested_at, cancelled_at
     from delivery_log.replays where account = $1 and client = $2 order by requested_at desc, guid limit $3`,
    [account, client, LISTED_REPLAYS],
  );
  return rows;
}

/** How far it has come; undefined where it is not the client's. */
export async function replayOf(
  postgres: Queryable,
  guid: string,
  { account, client }: ClientReader,
): Promise<Replay | undefined> {
  const { rows } = await postgres.query<Replay>(
    `select r.guid, r.subscription, r.since, r.until, r.per_second, r.total, r.requested_at, r.cancelled_at,
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

/** Takes back what is not published yet. What delivery-log has claimed may be on its way by now: that is sent. */
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

/** Of a subscription of the client, current or not. */
async function actionOf(postgres: Queryable, subscription: string, client: ClientReader): Promise<string | undefined> {
  const { rows } = await postgres.query<{ action: string }>(
    `select action from waybell.subscriptions
     where guid = $1 and account_guid = $2 and client_id = $3 and interface = $4`,
    [subscription, client.account, client.client, client.interface],
  );
  return rows[0]?.action;
}
