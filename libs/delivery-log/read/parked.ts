import type { ParkReason } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';
import type { DeliveryRow } from './deliveries.ts';

/** Since when, in milliseconds since the epoch, and why a delivery waits for its endpoint. */
export type ParkedNow = { since: number; why: ParkReason };

/**
 * Builds a query for the keys of deliveries while they are parked: `created_at` is the time of the router's record, or, if sent
 * by hand, when it was due. `$1` and `at`: guids of deliveries and their times.
 */
export const placesOf = (wanted: string): string => `
  select delivery, subscription, round(extract(epoch from at) * 1000)::bigint as created_at from ${wanted}
  union all
  select s.delivery, s.subscription, round(extract(epoch from s.due_at) * 1000)::bigint
  from delivery_log.sendings s where s.delivery in (select delivery from ${wanted}) and s.published_at is not null`;

/** Finds which of these deliveries are parked. Reads a few rows for each, however many wait for the same subscription. */
export async function parkedOf(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery' | 'subscription' | 'at'>[],
): Promise<Map<string, ParkedNow>> {
  if (deliveries.length === 0) return new Map();
  const { rows } = await postgres.query<ParkedNow & { delivery: string }>({
    name: 'history-parked',
    text: `with wanted as (
             select delivery, subscription, to_timestamp(at_ms / 1000) as at
             from unnest($1::uuid[], $2::uuid[], $3::float8[]) as w (delivery, subscription, at_ms)
           ), place as (${placesOf('wanted')})
           select place.delivery, ${ms('p.parked_at')} as since, p.why from place
           cross join lateral (
             select * from waybell.parked q
             where q.subscription = place.subscription and q.created_at = place.created_at
               and q.delivery = place.delivery::text
             order by q.attempt desc, q.hop desc limit 1
           ) p`,
    values: [
      deliveries.map(({ delivery }) => delivery),
      deliveries.map(({ subscription }) => subscription),
      deliveries.map(({ at }) => at),
    ],
  });
  return new Map(rows.map(({ delivery, since, why }) => [delivery, { since, why }]));
}
