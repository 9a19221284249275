/** Explains why nothing can be sent again, and says what there is instead. */
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '@waybell/delivery-log/columns';
import { isStored } from '@waybell/delivery-log/read/bodies';
import { subscriptionsOf } from '@waybell/delivery-log/read/subscriptions';
import { isUnderWay } from './ask.ts';
import { findMissed, type MissedQuery } from './missed.ts';

type FailedCounts = {
  /** Deliveries that were given up or dropped in that time, and their current state. */
  failed: number;
  delivered: number;
  underWay: number;
  bodyless: number;
  /** Times of the last one before the range and of the first one after it. */
  lastBefore: number | null;
  firstAfter: number | null;
};

const FIGURES = `
  with failed as (
    select delivery, max(at) as at from delivery_log.attempts
    where subscription = any ($1::uuid[]) and kind in ('exhausted', 'dropped') and by_hand is distinct from 'test'
      and at >= $2 and at < $3 group by delivery limit 10000
  ), told as (
    select exists (select from delivery_log.attempts m where m.delivery = f.delivery and m.kind = 'delivered') as is_delivered,
      ${isUnderWay('f.delivery')} as is_under_way,
      not exists (select from delivery_log.attempts b where b.delivery = f.delivery and ${isStored('b')}) as is_bodyless
    from failed f
  )
  select count(*)::int as failed, count(*) filter (where is_delivered)::int as delivered,
    count(*) filter (where is_under_way)::int as "underWay", count(*) filter (where is_bodyless)::int as bodyless,
    (select ${ms('max(at)')} from delivery_log.attempts
     where subscription = any ($1::uuid[]) and kind in ('exhausted', 'dropped') and at < $2) as "lastBefore",
    (select ${ms('min(at)')} from delivery_log.attempts
     where subscription = any ($1::uuid[]) and kind in ('exhausted', 'dropped') and at >= $3) as "firstAfter"
  from told`;

const OTHERS = `
  select s.action, s.guid as subscription, count(distinct a.delivery)::int as failed
  from waybell.subscriptions s join delivery_log.attempts a on a.subscription = s.guid
  where s.account_guid = $1 and s.client_id = $2 and s.interface = $3 and s.action <> all ($4::text[])
    and a.kind in ('exhausted', 'dropped') and a.by_hand is distinct from 'test' and a.at >= $5 and a.at < $6
  group by s.action, s.guid order by failed desc, s.action limit 5`;

/** Made from kept events, and not published yet. */
const ABOUT_TO_BE_SENT = `
  select count(*)::int as count from delivery_log.sendings
  where account = $1 and client = $2 and interface = $3 and action = any ($4::text[]) and kept_at >= $5 and kept_at < $6
    and published_at is null`;

/** Returns sentences for people. */
export async function explainEmptyReplay(postgres: Queryable, query: MissedQuery): Promise<string> {
  const { client, actions, sinceMs, untilMs } = query;
  const called = actions.length === 1 ? actions.join() : 'these actions';
  const all = await subscriptionsOf(postgres, { account: client.account, client: client.client });
  const subscriptions = all.filter(({ action }) => actions.includes(action));
  const guids = subscriptions.map(({ subscription }) => subscription);
  const [since, until] = [new Date(sinceMs), new Date(untilMs)];
  const { rows } = await postgres.query<FailedCounts>(FIGURES, [guids, since, until]);
  const suppressed = query.includesSuppressed ? [] : await findMissed(postgres, { ...query, includesSuppressed: true });
  const values = [client.account, client.client, client.interface, actions, since, until];
  const others = await postgres.query<{ action: string; subscription: string; failed: number }>(OTHERS, values);
  const aboutToBeSent = await postgres.query<{ count: number }>(ABOUT_TO_BE_SENT, values);
  return [
    ...(subscriptions.length === 0 ? [`This client has never subscribed to ${called}.`] : ofFigures(called, rows[0])),
    ...(suppressed.length === 0
      ? []
      : [
          `Of events that came while this client had no subscription that was on there are ${suppressed.length}: ask with include_suppressed.`,
        ]),
    ...aboutToBeSent.rows.flatMap(({ count }) =>
      count === 0 ? [] : [`Another replay is about to send the failed ones: ${count}.`],
    ),
    ...others.rows.map(
      (other) =>
        `Failed deliveries of ${other.action} in that time: ${other.failed} (subscription ${other.subscription}).`,
    ),
  ].join(' ');
}

function ofFigures(action: string, figures: FailedCounts | undefined): string[] {
  if (figures === undefined) return [];
  const { failed, delivered, underWay, bodyless, lastBefore, firstAfter } = figures;
  if (failed > 0) {
    const of = [
      delivered > 0 ? `delivered since: ${delivered}` : '',
      underWay > 0 ? `under way: ${underWay}` : '',
      bodyless > 0 ? `no longer kept: ${bodyless}` : '',
    ].filter((text) => text !== '');
    return [`Failed deliveries of ${action} in that time: ${failed} (${of.join(', ')}).`];
  }
  return [
    `No delivery of ${action} failed in that time.`,
    ...(lastBefore === null ? [] : [`The last one before failed at ${new Date(lastBefore).toISOString()}.`]),
    ...(firstAfter === null ? [] : [`The first one after failed at ${new Date(firstAfter).toISOString()}.`]),
  ];
}
