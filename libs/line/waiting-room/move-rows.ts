import { columnsOf, makeRooms, SAME_KEY, wakeRooms } from './put-rows.ts';
import type { WaitingConnection, WaitingService } from './waiting-connection.ts';
import type { WaitingStore } from './waiting-store.ts';

/** Rows that are moved at once, at most: each goes with its body. */
const MOST_MOVED = 500;

/** Moves nothing where the other room is missing. */
const move = (service: WaitingService): string => `
  with held as materialized (
    select room from waybell.${service}_rooms where room = $3 for key share
  ), few as materialized (
    select w.room, w.made_at, w.id from waybell.${service}_waiting w
    where w.room = $1 and w.subscription = $2 and exists (select from held) and (w.why <> 'open' or w.due_at <= now())
      and (w.made_at, w.id) <> all (select made_at, id collate "C" from unnest($4::bigint[], $5::text[]) as k (made_at, id))
    order by w.made_at, w.id limit ${MOST_MOVED} for update
  ), gone as (
    delete from waybell.${service}_waiting w using few k where ${SAME_KEY} returning w.*
  ), moved as (
    insert into waybell.${service}_waiting as w (room, made_at, id, no, subscription, put_at, due_at, why, properties, body)
    select $3, made_at, id, no, subscription, put_at, due_at, why, properties, body from gone order by made_at, id
    on conflict (room, made_at, id) do update set no = w.no + 1
    returning xmax <> 0 as is_double, coalesce(octet_length(body), 0) + octet_length(properties) as bytes
  )
  select exists (select from held) as "isThere", (select count(*) from moved)::int as moved,
    (select count(*) from moved where is_double)::int as doubles,
    (select coalesce(sum(bytes), 0) from moved where is_double)::float8 as bytes`;

type Moved = { isThere: boolean; moved: number; doubles: number; bytes: number };

export function movesIn(connection: WaitingConnection): Pick<WaitingStore, 'subscriptionsIn' | 'move'> {
  const { service, ask, atLength, sums } = connection;
  return {
    async subscriptionsIn(room) {
      const text = `select distinct subscription from waybell.${service}_waiting where room = $1 and subscription is not null`;
      const found = await atLength((query) => query<{ subscription: string }>(text, [room]));
      return found.map(({ subscription }) => subscription);
    },
    async move({ from, subscription, to, account, except }) {
      const [, times, ids] = columnsOf(except);
      for (;;) {
        const [done] = await ask<Moved>('move', move(service), [from, subscription, to, times, ids]);
        if (done?.isThere !== true) {
          await makeRooms(connection, [{ room: to, account }]);
          continue;
        }
        // The other room had them already.
        sums.add({ holder: account, rows: -done.doubles, bytes: -done.bytes });
        if (done.moved > 0) await wakeRooms(connection, [{ room: to }]);
        return done.moved;
      }
    },
  };
}
