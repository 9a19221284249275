import type { WaitingReason } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';
import type { DeliveryRow } from './deliveries.ts';

/** Since when, in milliseconds since the epoch, and why a delivery waits. */
export type WaitingNow = { since: number; why: WaitingReason };

/**
 * Builds a query for the keys of deliveries while they wait: `made_at` is the time of the router's record, or, if sent by hand, when
 * it was due; the row's `id` is between `prefix` and `beyond`, its room that of the endpoint, `room`, or of the subscription, `held_room`. Where one of
 * them was changed a moment ago, the row may still be in another of the `account`. `$1` and `at`: guids of deliveries and their times.
 */
export const placesOf = (wanted: string): string => `
  select made.delivery, s.account_guid as account, waybell.room_of(s.account_guid, s.callback_url) as room, s.guid as held_room,
    round(extract(epoch from made.at) * 1000)::bigint as made_at,
    (made.delivery || ' ') collate "C" as prefix, (made.delivery || '!') collate "C" as beyond
  from (
    select delivery, subscription, at from ${wanted}
    union all
    select s.delivery, s.subscription, s.due_at
    from delivery_log.sendings s where s.delivery in (select delivery from ${wanted}) and s.published_at is not null
  ) made join waybell.subscriptions s on s.guid = made.subscription`;

/** Finds which of these deliveries wait. Reads a few rows for each, however many wait for the same endpoint. */
export async function waitingOf(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery' | 'subscription' | 'at'>[],
): Promise<Map<string, WaitingNow>> {
  if (deliveries.length === 0) return new Map();
  const { rows } = await postgres.query<WaitingNow & { delivery: string }>({
    name: 'history-waiting',
    text: `with wanted as (
             select delivery, subscription, to_timestamp(at_ms / 1000) as at
             from unnest($1::uuid[], $2::uuid[], $3::float8[]) as w (delivery, subscription, at_ms)
           ), place as (${placesOf('wanted')})
           select place.delivery, ${ms('w.put_at')} as since, w.why from place
           cross join lateral (
             select * from waybell.deliverer_waiting q
             where q.room in (place.room, place.held_room) and q.made_at = place.made_at and q.id > place.prefix and q.id < place.beyond
             order by length(q.id) desc, q.id desc limit 1
           ) w`,
    values: [
      deliveries.map(({ delivery }) => delivery),
      deliveries.map(({ subscription }) => subscription),
      deliveries.map(({ at }) => at),
    ],
  });
  return new Map(rows.map(({ delivery, since, why }) => [delivery, { since, why }]));
}
