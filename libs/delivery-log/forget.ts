import { messageGuid } from '@waybell/notifications/notification';
import type { Queryable } from '@waybell/runtime/postgres';
import { packChunk, unpackChunk, ms, time, numberOfKey, readKey } from './tables.ts';
import { LATEST, type Cursor } from './read/cursor.ts';
import { placesOf } from './read/deliveries.ts';
import { eventsOfKey, hasKey, ofPlace, type AskedKey } from './read/events.ts';

/** Numbers of deleted rows; and of publications that wait for the broker, whatever they are about. */
export type Forgotten = { events: number; bodies: number; answers: number; waiting: number; onItsWay: number };

/** Number of events that are forgotten together. */
const TOGETHER = 500;

/**
 * Deletes, for one key: bodies sent (exhausted deliveries included), bodies that wait, whose deliveries are then dropped, receivers'
 * answers, and quotes from rejected events. Guids, times and reasons stay, and show that something was sent and how it ended.
 * Needs a transaction.
 */
export async function forget(postgres: Queryable, about: AskedKey): Promise<Forgotten> {
  const forgotten: Forgotten = {
    events: 0,
    bodies: 0,
    answers: 0,
    waiting: 0,
    onItsWay: await countOnTheirWay(postgres),
  };
  // Two that forget would wait for each other: each locks rows and chunks of one event after another.
  await postgres.query("select pg_advisory_xact_lock(hashtext('delivery_log.forget'))");
  let before = LATEST;
  for (;;) {
    const page = await eventsFrom(postgres, about, before);
    const events = page.filter((row) => hasKey(row, about));
    if (events.length > 0) {
      const sent = events.flatMap(({ at, event, subscriptions }) =>
        subscriptions.map((subscription) => ({ at, delivery: messageGuid(event, subscription), subscription })),
      );
      const { bodies, answers } = await forgetAttempts(postgres, events, sent);
      forgotten.events += new Set(events.map(({ event, at }) => `${event} ${at}`)).size;
      forgotten.bodies += bodies;
      forgotten.answers += answers;
      forgotten.waiting += await forgetWaiting(postgres, sent);
    }
    const last = page.at(-1);
    if (last === undefined) return forgotten;
    before = { at: last.at, guid: last.event };
  }
}

type ForgottenEvent = { at: number; event: string; keys: { kind: string; key: string }[]; subscriptions: string[] };
type SentDelivery = { at: number; delivery: string; subscription: string };

async function eventsFrom(postgres: Queryable, { key }: AskedKey, before: Cursor): Promise<ForgottenEvent[]> {
  const { rows } = await postgres.query<Omit<ForgottenEvent, 'keys'> & { keys: string[] }>(
    `select ${ms('k.at')} as at, k.event, coalesce(e.keys, '{}') as keys, coalesce(e.subscriptions, '{}') as subscriptions
     from (${eventsOfKey('$1', '$2', time('$3'), '$4')}) k left join lateral (${ofPlace('k')}) e on true
     order by k.at desc, k.event desc`,
    [numberOfKey(key), TOGETHER, before.at, before.guid],
  );
  return rows.map((row) => ({ ...row, keys: row.keys.map(readKey) }));
}

type StoredBody = { chunk: string | null; place: number | null };

/** Deletes bodies and receivers' answers of these events, also of deliveries to other subscriptions. */
async function forgetAttempts(
  postgres: Queryable,
  events: readonly ForgottenEvent[],
  sent: readonly SentDelivery[],
): Promise<Pick<Forgotten, 'bodies' | 'answers'>> {
  const attempts = await postgres.query<StoredBody & { answer: boolean }>(
    `with gone as (
       select a.delivery, a.at, a.attempt, a.chunk, a.place, a.answer from unnest($1::uuid[]) as sent (guid)
       cross join lateral (
         select * from delivery_log.attempts m
         where m.delivery = sent.guid and (m.place is not null or m.answer is not null) offset 0
       ) a
     ), cleared as (
       update delivery_log.attempts a set answer = null, place = null from gone
       where (a.delivery, a.at, a.attempt) = (gone.delivery, gone.at, gone.attempt)
     )
     select chunk, place, answer is not null as answer from gone`,
    [[...new Set(sent.map(({ delivery }) => delivery))]],
  );
  // Deliveries of the event too: a rejected delivery did not store the keys again.
  const kept = await postgres.query<StoredBody>(
    `with gone as (
       select e.event, e.at, e.part, e.chunk, e.place from unnest($1::uuid[]) as forgotten (guid)
       cross join lateral (
         select * from delivery_log.events m
         where m.event = forgotten.guid and (m.place is not null or m.rejected_detail is not null) offset 0
       ) e
     ), cleared as (
       update delivery_log.events e set rejected_detail = null, place = null from gone
       where (e.event, e.at, e.part) = (gone.event, gone.at, gone.part)
     )
     select chunk, place from gone`,
    [[...new Set(events.map(({ event }) => event))]],
  );
  await blank(postgres, [...attempts.rows, ...kept.rows]);
  return {
    bodies: attempts.rows.filter(({ place }) => place !== null).length,
    answers: attempts.rows.filter(({ answer }) => answer).length,
  };
}

/** Chunks are read and written a few at a time: each may have a MiB. */
const CHUNKS_TOGETHER = 20;

async function blank(postgres: Queryable, stored: readonly StoredBody[]): Promise<void> {
  const places = Map.groupBy(
    stored.filter(({ place }) => place !== null),
    ({ chunk }) => chunk ?? '',
  );
  const chunks = [...places.keys()];
  while (chunks.length > 0) {
    const { rows } = await postgres.query<{ chunk: string; bytes: Buffer }>(
      'select chunk, bytes from delivery_log.chunks where chunk = any ($1::bigint[])',
      [chunks.splice(0, CHUNKS_TOGETHER)],
    );
    for (const { chunk, bytes } of rows) {
      const gone = new Set(places.get(chunk)?.map(({ place }) => place));
      const left = unpackChunk(bytes).map((body, place) => (gone.has(place) ? Buffer.alloc(0) : body));
      await postgres.query('update delivery_log.chunks set bytes = $2 where chunk = $1', [chunk, packChunk(left)]);
    }
  }
}

/**
 * Deletes rows in every room of the account: a URL may have changed a moment ago. Held rows become due. Rows are locked by their
 * key, then rooms by theirs, as everywhere.
 */
async function forgetWaiting(postgres: Queryable, sent: readonly SentDelivery[]): Promise<number> {
  const { rows } = await postgres.query<{ waiting: number }>(
    `with sent as (
       select delivery, subscription, ${time('at_ms')} as at
       from unnest($1::uuid[], $2::uuid[], $3::float8[]) as s (delivery, subscription, at_ms)
     ), place as (${placesOf('sent')}
     ), found as materialized (
       select w.room, w.made_at, w.id from place join waybell.deliverer_rooms r using (account)
       join waybell.deliverer_waiting w
         on w.room = r.room and w.made_at = place.made_at and w.id > place.prefix and w.id < place.beyond
       where w.body is not null order by w.room, w.made_at, w.id for update of w
     ), gone as (
       update waybell.deliverer_waiting w set body = null,
         due_at = case when why in ('paused', 'stopped') then null else due_at end
       from found
       where (w.room, w.made_at, w.id) = (found.room, found.made_at, found.id) returning w.room
     ), due as (
       update waybell.deliverer_rooms set look_at = now() where room in (
         select room from waybell.deliverer_rooms where room in (select room from gone) and claimed_by is null
         order by room for no key update)
     )
     select count(*)::int as waiting from gone`,
    [sent.map(({ delivery }) => delivery), sent.map(({ subscription }) => subscription), sent.map(({ at }) => at)],
  );
  return rows[0]?.waiting ?? 0;
}

async function countOnTheirWay(postgres: Queryable): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>('select count(*)::float8 as count from waybell.outbox');
  return rows[0]?.count ?? 0;
}
