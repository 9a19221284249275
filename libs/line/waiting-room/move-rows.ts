import { columnsOf, makeRooms, SAME_KEY, wakeRooms } from './put-rows.ts';
import type { WaitingConnection, WaitingService } from './waiting-connection.ts';
import type { WaitingStore } from './waiting-store.ts';

/** Rows that are moved at once, at most: each goes with its body. */
const MOST_MOVED = 500;

/** Rows that stay in their room are changed without their bodies. */
const MOST_CHANGED = 5_000;

/** No request under way, and none in hand. */
const MAY_MOVE = `(w.why <> 'open' or w.due_at <= now())
  and (w.made_at, w.id) <> all (select made_at, id collate "C" from unnest($4::bigint[], $5::text[]) as k (made_at, id))`;

/** When a row that is held is due: it waits until $7, or until it is older than $8, in milliseconds. */
const HELD_UNTIL = `least(to_timestamp($7::float8 / 1000), to_timestamp((w.made_at + $8::float8 + 1) / 1000))`;

const SUMMED = `(select coalesce(1000 * extract(epoch from min(coalesce(due_at, now())) - now()), 0) from moved)::float8 as "dueInMs"`;

/** Moves nothing if the other room is missing. $6: why it is held; null: it is no longer held. */
const move = (service: WaitingService): string => `
  with held as materialized (
    select room from waybell.${service}_rooms where room = $3 for key share
  ), few as materialized (
    select w.room, w.made_at, w.id from waybell.${service}_waiting w
    where w.room = $1 and w.subscription = $2 and exists (select from held) and ${MAY_MOVE}
    order by w.made_at, w.id limit ${MOST_MOVED} for update
  ), gone as (
    delete from waybell.${service}_waiting w using few k where ${SAME_KEY} returning w.*
  ), moved as (
    insert into waybell.${service}_waiting as w (room, made_at, id, no, subscription, put_at, due_at, why, properties, body)
    select $3, made_at, id, no, subscription, put_at,
      case when $6::text is not null then ${HELD_UNTIL} when why not in ('paused', 'stopped') then due_at end,
      coalesce($6, case when why in ('paused', 'stopped') then 'full' else why end), properties, body
    from gone w order by made_at, id
    on conflict (room, made_at, id) do update set no = w.no + 1
    returning xmax <> 0 as is_double, coalesce(octet_length(body), 0) + octet_length(properties) as bytes, due_at
  )
  select exists (select from held) as "isThere", (select count(*) from moved)::int as moved,
    (select count(*) from moved where is_double)::int as doubles,
    (select coalesce(sum(bytes), 0) from moved where is_double)::float8 as bytes, ${SUMMED}`;

/** Changes rows in their room: they are held for another reason, or until another time. */
const hold = (service: WaitingService): string => `
  with few as materialized (
    select w.room, w.made_at, w.id, ${HELD_UNTIL} as due_at from waybell.${service}_waiting w
    where w.room = $1 and w.subscription = $2 and (w.why, w.due_at) is distinct from ($6::text, ${HELD_UNTIL})
      and ${MAY_MOVE}
    order by w.made_at, w.id limit ${MOST_CHANGED} for no key update
  ), moved as (
    update waybell.${service}_waiting w set why = $6, due_at = k.due_at from few k where ${SAME_KEY} returning w.due_at
  )
  select $3::uuid is not null as "isThere", (select count(*) from moved)::int as moved, 0 as doubles, 0 as bytes, ${SUMMED}`;

type Moved = { isThere: boolean; moved: number; doubles: number; bytes: number; dueInMs: number };

/** More than two clocks differ by, and less than is noticed. */
const SPARE = `interval '1 second'`;

/** The room of a subscription that is held has its guid. */
const lookAfterHeld = (service: WaitingService): string => `
  update waybell.${service}_rooms set changes = changes + 1, look_at = now() where room = any (array(
    select r.room from waybell.${service}_rooms r join waybell.delivery_targets t on t.subscription_guid = r.room
    where r.name is null and r.shut_since is null and r.look_at > now() and r.claimed_by is null and r.changes = 0
      and (t.held is null or r.look_at > t.held_until + ${SPARE})
    order by r.room for no key update of r skip locked))`;

export function movesIn(
  connection: WaitingConnection,
): Pick<WaitingStore, 'subscriptionsIn' | 'move' | 'lookAfterHeld'> {
  const { service, ask, atLength, sums } = connection;
  return {
    async subscriptionsIn(room) {
      const text = `select distinct subscription from waybell.${service}_waiting where room = $1 and subscription is not null`;
      const found = await atLength((query) => query<{ subscription: string }>(text, [room]));
      return found.map(({ subscription }) => subscription);
    },
    async lookAfterHeld() {
      await ask('look-after-held', lookAfterHeld(service), []);
    },
    async move({ from, subscription, to, account, except, held }) {
      const [, times, ids] = columnsOf(except);
      const values = [
        from,
        subscription,
        to,
        times,
        ids,
        held?.why ?? null,
        held?.until ?? null,
        held?.maxAgeMs ?? null,
      ];
      const [name, text] = from === to ? ['hold', hold(service)] : ['move', move(service)];
      for (;;) {
        const [done] = await ask<Moved>(name, text, values);
        if (done?.isThere !== true) {
          await makeRooms(connection, [{ room: to, account }]);
          continue;
        }
        // The other room had them already.
        sums.add({ holder: account, rows: -done.doubles, bytes: -done.bytes });
        if (done.moved > 0) await wakeRooms(connection, [{ room: to, afterMs: done.dueInMs }]);
        return done.moved;
      }
    },
  };
}
