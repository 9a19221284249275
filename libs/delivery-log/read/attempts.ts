import type { Queryable } from '@waybell/runtime/postgres';
import { time } from '../columns.ts';
import { tables, type AttemptRow } from '../tables.ts';
import { attemptColumns, deliveryColumns, SKEW_MS, type DeliveryRow, type AttemptDetail } from './log-tables.ts';

/** Most deliveries end by then, however long their receivers were away. */
const SOON_MS = 86_400_000;

/** Selects the attempts of a delivery in a time range, in milliseconds; `until` is exclusive. */
type AttemptsQuery = { delivery: string; from: number; until: number };

/**
 * Finds each delivery's attempts, in order. Every day is a table, and each look into one may read from disk: so it looks within a
 * day of the delivery, and further only if the delivery has not ended by then or was sent by hand; and before the delivery if an
 * attempt is missing, because a wrong clock, the deliverer's or the router's, can date it so.
 */
export async function attemptsOf(
  postgres: Queryable,
  deliveries: readonly DeliveryRow[],
  told: AttemptDetail,
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
  const soon = [...deliveries.flatMap(firstAttempt), ...(await attemptsWithin(postgres, wanted, told))];
  const found = Map.groupBy(soon, ({ delivery }) => delivery);
  const isWhole = ({ delivery }: AttemptsQuery) => hasAll(found.get(delivery) ?? []);
  const hasArrived = ({ delivery }: AttemptsQuery) => found.get(delivery)?.some(isDelivered) ?? false;
  const before = wanted
    .filter((each) => !isWhole(each))
    .map((each) => ({ ...each, from: -Infinity, until: each.from }));
  const beyond = wanted
    .filter((each) => each.until < Infinity && !(isWhole(each) && hasArrived(each)))
    .map((each) => ({ ...each, from: each.until, until: Infinity }));
  const others = [...before, ...wanted.filter((each) => !hasArrived(each))];
  return inOrder([
    ...soon,
    ...(await firstAttemptsWithin(postgres, others, told)),
    ...(await attemptsWithin(postgres, [...before, ...beyond], told)),
  ]);
}

const isDelivered = ({ kind }: AttemptRow): boolean => kind === 'delivered';

/** Whether these are all attempts of a delivery that has ended: they are numbered from 1 on. */
function hasAll(attempts: readonly AttemptRow[]): boolean {
  const numbers = new Set(attempts.map(({ attempt }) => attempt));
  return attempts.some(({ kind }) => kind !== 'failed') && Math.max(...numbers) === numbers.size;
}

/** Members common to rows of deliveries and of attempts. */
const SHARED = Object.keys(tables.attempts.columns).filter((member) => member in tables.deliveries.columns);

/** Returns the attempt stored in the row of a delivery, which may have more members than its columns. */
export function firstAttempt({ attemptedAt: at, ...row }: DeliveryRow): AttemptRow[] {
  if (at === null) return [];
  const shared = Object.fromEntries(Object.entries(row).filter(([member]) => SHARED.includes(member)));
  const ofFailure = { reason: null, retryAt: null, brokenRule: null };
  const others = { at, attempt: 1, kind: 'delivered', parked: null, byHand: null, ...ofFailure };
  // All members of an attempt: the shared ones and the others.
  return [{ ...shared, ...others } as AttemptRow];
}

/**
 * Removes duplicates, as a record that came twice may be in both tables, and orders by attempt number, because clocks differ; by
 * time if numbers begin at 1 more than once, as for an event that was routed again.
 */
function inOrder(attempts: readonly AttemptRow[]): AttemptRow[] {
  const byKey = new Map(attempts.map((each) => [`${each.delivery} ${each.at} ${each.attempt}`, each]));
  return [...Map.groupBy(byKey.values(), ({ delivery }) => delivery).values()].flatMap((each) => {
    const isCountedOnce = each.filter(({ attempt }) => attempt === 1).length <= 1;
    return each.toSorted(
      (one, other) =>
        (isCountedOnce && one.attempt - other.attempt) || one.at - other.at || one.attempt - other.attempt,
    );
  });
}

/** Finds attempts in other rows of these deliveries, whose events were routed more than once. */
async function firstAttemptsWithin(
  postgres: Queryable,
  wanted: readonly AttemptsQuery[],
  { withAnswers }: AttemptDetail,
): Promise<AttemptRow[]> {
  if (wanted.length === 0) return [];
  const { rows } = await postgres.query<DeliveryRow>({
    name: 'history-first-attempts',
    text: `select ${deliveryColumns('$4')} from ${WANTED}
           cross join lateral (
             select * from delivery_log.deliveries m
             where m.delivery = wanted.delivery and m.at >= ${time('from_ms')} and m.at < ${time('until_ms')}
               and m.attempted_at is not null offset 0
           ) d`,
    values: [...valuesOf(wanted), withAnswers],
  });
  return rows.flatMap(firstAttempt);
}

async function attemptsWithin(
  postgres: Queryable,
  wanted: readonly AttemptsQuery[],
  { withAnswers }: AttemptDetail,
): Promise<AttemptRow[]> {
  if (wanted.length === 0) return [];
  const { rows } = await postgres.query<AttemptRow>({
    name: 'history-attempts',
    // `offset 0` keeps Postgres from reading whole days for the join.
    text: `select ${attemptColumns('$4')} from ${WANTED}
           cross join lateral (
             select * from delivery_log.attempts m
             where m.delivery = wanted.delivery and m.at >= ${time('from_ms')} and m.at < ${time('until_ms')} offset 0
           ) a`,
    values: [...valuesOf(wanted), withAnswers],
  });
  return rows;
}

const WANTED = 'unnest($1::uuid[], $2::float8[], $3::float8[]) as wanted (delivery, from_ms, until_ms)';

function valuesOf(wanted: readonly AttemptsQuery[]): unknown[][] {
  return [wanted.map(({ delivery }) => delivery), wanted.map(({ from }) => from), wanted.map(({ until }) => until)];
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
