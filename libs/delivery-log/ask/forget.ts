import type { Queryable } from '@waybell/runtime/postgres';
import type { AskedKey } from '../read/log-tables.ts';
import { placesOf } from '../read/parked.ts';

/** Numbers of deleted rows; and of rows on their way to the broker or to a second attempt, whatever they are about. */
export type Forgotten = { events: number; bodies: number; answers: number; parked: number; onItsWay: number };

/**
 * Deletes, for one key: bodies sent (exhausted deliveries included), bodies parked, whose deliveries are then dropped, receivers'
 * answers, and quotes from rejected events. Guids, times and reasons stay, and show that something was sent and how it ended.
 */
export async function forget(postgres: Queryable, { key, kind }: AskedKey): Promise<Forgotten> {
  const { rows } = await postgres.query<Forgotten>(
    `with about as (
       select distinct event, at from delivery_log.keys where key = $1 and ($2::text is null or kind = $2)
     ), sent as (
       select d.delivery, d.subscription, d.at from delivery_log.deliveries d join about using (event, at)
     ), bodies as (
       delete from delivery_log.bodies b using sent where b.delivery = sent.delivery returning b.delivery
     ), kept as (
       delete from delivery_log.kept_events k using about where k.event = about.event returning k.event
     ), answers as (
       update delivery_log.attempts a set answer = null from sent
       where a.delivery = sent.delivery and a.answer is not null returning a.delivery
     ), first_answers as (
       update delivery_log.deliveries d set answer = null from sent
       where d.delivery = sent.delivery and d.answer is not null returning d.delivery
     ), quoted as (
       -- Of its deliveries as well: when those were rejected, what they are about was not put down again.
       update delivery_log.events e set rejected_detail = null from about
       where e.event = about.event and e.rejected_detail is not null returning e.event
     ), place as (${placesOf('sent')}
     ), parked as (
       update waybell.parked p set body = null from place
       where p.subscription = place.subscription and p.created_at = place.created_at and p.delivery = place.delivery::text
         and p.body is not null
       returning p.subscription
     ), due as (
       -- Their owner ends them in their turn, and looks at once whether that has come. In order, as everybody locks them.
       update waybell.parked_heads set look_at = now() where subscription in (
         select subscription from waybell.parked_heads where subscription in (select subscription from parked)
         order by subscription for no key update)
     )
     select (select count(*)::int from about) as events, (select count(*)::int from bodies) as bodies,
       (select count(*)::int from (table answers union all table first_answers) a) as answers, (select count(*)::int from parked) as parked,
       ((select coalesce(sum(publications), 0) from waybell.kept_destinations)
         + (select count(*) from waybell.open_requests))::int as "onItsWay"`,
    [key, kind ?? null],
  );
  const [forgotten] = rows;
  if (forgotten === undefined) throw new Error('a row without a table always comes');
  return forgotten;
}
