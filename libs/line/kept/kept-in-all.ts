import type { Queryable } from '@waybell/runtime/postgres';

/** Messages that a service keeps for one exchange and key because the broker does not take them. */
export type KeptFor = {
  /** The service's role in Postgres. */
  keptBy: string;
  exchange: string;
  routingKey: string;
  publications: number;
  bytes: number;
  /** Time of the oldest, in milliseconds since the epoch. */
  oldestAt: number;
};

/** Returns the oldest first. */
export async function keptInAll(postgres: Queryable): Promise<KeptFor[]> {
  const { rows } = await postgres.query<KeptFor>(
    `select kept_by::text as "keptBy", exchange, routing_key as "routingKey", publications::float8, bytes::float8,
       round(extract(epoch from oldest_at) * 1000)::float8 as "oldestAt"
     from waybell.kept order by oldest_at, kept_by, exchange, routing_key`,
  );
  return rows;
}
