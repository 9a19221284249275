import type { Queryable } from '@waybell/runtime/postgres';

/** What was deleted, in rows. */
export type Forgotten = { events: number; bodies: number; answers: number };

/**
 * Deletes what was sent about a subject, exhausted deliveries included, what receivers answered, and what was quoted from
 * events that were rejected. Guids, times and reasons stay: that something was sent, and what became of it.
 */
export async function forget(postgres: Queryable, subject: string): Promise<Forgotten> {
  const { rows } = await postgres.query<Forgotten>(
    `with about as (
       select event, at from delivery_log.subjects where subject = $1
     ), sent as (
       select d.delivery, d.at from delivery_log.deliveries d join about using (event, at)
     ), bodies as (
       delete from delivery_log.bodies b using sent where b.delivery = sent.delivery returning b.delivery
     ), answers as (
       update delivery_log.attempts a set answer = null from sent
       where a.delivery = sent.delivery and a.answer is not null returning a.delivery
     ), quoted as (
       -- Of its deliveries as well: when those were rejected, what they are about was not put down again.
       update delivery_log.events e set rejected_detail = null from about
       where e.event = about.event and e.rejected_detail is not null returning e.event
     )
     select (select count(*)::int from about) as events, (select count(*)::int from bodies) as bodies,
       (select count(*)::int from answers) as answers`,
    [subject],
  );
  const [forgotten] = rows;
  if (forgotten === undefined) throw new Error('a row without a table always comes');
  return forgotten;
}
