import type { Queryable } from '@waybell/runtime/postgres';
import type { AttemptEntry } from './entries.ts';
import { ms, SKEW_MS, time, type DeliveryRow } from './log-tables.ts';

export type AttemptRow = {
  at: number;
  delivery: string;
  attempt: number;
  kind: AttemptEntry['kind'];
  subscription: string;
  parked: AttemptEntry['parked'] | null;
  by_hand: AttemptEntry['byHand'] | null;
  status: number | null;
  reason: string | null;
  retry_at: number | null;
  duration_ms: number | null;
  url: string | null;
  ip: string | null;
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  answer: string | null;
};

/** By then most have got through, however long their receivers were away. */
const SOON_MS = 86_400_000;

/** A delivery whose attempts of a stretch of time are looked for, from and before these milliseconds. */
type Wanted = { delivery: string; from: number; until: number };

/** Whether what receivers answered is told as well: some KiB for each attempt, which swell a list. */
export type Told = { withAnswers: boolean };

/**
 * Of each delivery in the order in which they ended. Every day is a table, each look into which may be a read from disk: so
 * that they are looked for within a day of the delivery, and beyond only where it has not got through by then, or was asked for by hand.
 */
export async function attemptsOf(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery' | 'at'>[],
  told: Told,
): Promise<AttemptRow[]> {
  if (deliveries.length === 0) return [];
  const byHand = await sentByHand(postgres, deliveries);
  const wanted = Array.from(
    Map.groupBy(deliveries, ({ delivery }) => delivery),
    ([delivery, routed]) => ({
      delivery,
      from: Math.min(...routed.map(({ at }) => at)) - SKEW_MS,
      until: byHand.has(delivery) ? Infinity : Math.max(...routed.map(({ at }) => at)) + SOON_MS,
    }),
  );
  const soon = await attemptsWithin(postgres, wanted, told);
  const arrived = new Set(soon.filter(({ kind }) => kind === 'delivered').map(({ delivery }) => delivery));
  const others = wanted.filter(({ delivery }) => !arrived.has(delivery) && !byHand.has(delivery));
  const later = others.map(({ delivery, until }) => ({ delivery, from: until, until: Infinity }));
  return [...soon, ...(await attemptsWithin(postgres, later, told))];
}

async function attemptsWithin(
  postgres: Queryable,
  wanted: readonly Wanted[],
  { withAnswers }: Told,
): Promise<AttemptRow[]> {
  if (wanted.length === 0) return [];
  const { rows } = await postgres.query<AttemptRow>({
    name: 'history-attempts',
    // `offset 0` keeps Postgres from reading whole days to join them.
    text: `select ${ms('a.at')}, a.delivery, a.attempt, a.kind, a.subscription, a.parked, a.by_hand, a.status, a.reason,
             ${ms('a.retry_at')}, a.duration_ms, a.url, a.ip, a.dns_ms, a.connect_ms, a.tls_ms, a.first_byte_ms,
             case when $4 then a.answer end as answer
           from unnest($1::uuid[], $2::float8[], $3::float8[]) as wanted (delivery, from_ms, until_ms)
           cross join lateral (
             select * from delivery_log.attempts m
             where m.delivery = wanted.delivery and m.at >= ${time('from_ms')} and m.at < ${time('until_ms')} offset 0
           ) a
           order by a.at, a.attempt`,
    values: [
      wanted.map(({ delivery }) => delivery),
      wanted.map(({ from }) => from),
      wanted.map(({ until }) => until),
      withAnswers,
    ],
  });
  return rows;
}

async function sentByHand(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery'>[],
): Promise<Set<string>> {
  const { rows } = await postgres.query<{ delivery: string }>({
    name: 'history-sent-by-hand',
    text: 'select delivery from delivery_log.sendings where delivery = any ($1::uuid[])',
    values: [deliveries.map(({ delivery }) => delivery)],
  });
  return new Set(rows.map(({ delivery }) => delivery));
}
