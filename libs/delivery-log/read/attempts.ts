import type { Queryable } from '@waybell/runtime/postgres';
import { selected, time, tables, type AttemptRow } from '../tables.ts';
import type { DeliveryRow } from './deliveries.ts';
import { SKEW_MS } from './events.ts';

const { chunk: _, place: __, ...LISTED } = tables.attempts.columns;

/** Whether attempts include receivers' answers, some KiB each: lists omit them. */
export type AttemptDetail = { withAnswers: boolean };

/** Selects the columns of an attempt `a`. `withAnswer`: SQL for whether to include the receiver's answer. */
export const attemptColumns = (withAnswer: string): string =>
  selected(LISTED, 'a', { answer: `case when ${withAnswer} then a.answer end` });

/** Most deliveries end by then, however long their receivers were away. */
const SOON_MS = 86_400_000;

/** Selects the attempts of a delivery in a time range, in milliseconds; `until` is exclusive. */
type AttemptsQuery = { delivery: string; from: number; until: number };

/**
 * Finds each delivery's attempts, in order. Every day is a table, and reading from one may access the disk: so it reads one day from the
 * delivery on, and further only if the delivery has not ended by then or was sent by hand; and before the delivery if an
 * attempt is missing, because a wrong clock, the deliverer's or the router's, can date it so.
 */
export async function attemptsOf(
  postgres: Queryable,
  deliveries: readonly DeliveryRow[],
  detail: AttemptDetail,
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
  const soon = await attemptsWithin(postgres, wanted, detail);
  const found = Map.groupBy(soon, ({ delivery }) => delivery);
  const isWhole = ({ delivery }: AttemptsQuery) => hasAll(found.get(delivery) ?? []);
  const hasArrived = ({ delivery }: AttemptsQuery) => found.get(delivery)?.some(isDelivered) ?? false;
  const before = wanted
    .filter((each) => !isWhole(each))
    .map((each) => ({ ...each, from: -Infinity, until: each.from }));
  const beyond = wanted
    .filter((each) => each.until < Infinity && !(isWhole(each) && hasArrived(each)))
    .map((each) => ({ ...each, from: each.until, until: Infinity }));
  return inOrder([...soon, ...(await attemptsWithin(postgres, [...before, ...beyond], detail))]);
}

const isDelivered = ({ kind }: AttemptRow): boolean => kind === 'delivered';

/** Whether these are all attempts of a delivery that has ended: they are numbered from 1 on. */
function hasAll(attempts: readonly AttemptRow[]): boolean {
  const numbers = new Set(attempts.map(({ attempt }) => attempt));
  return attempts.some(({ kind }) => kind !== 'failed') && Math.max(...numbers) === numbers.size;
}

/**
 * Orders by attempt number, because clocks differ; by time if numbers begin at 1 more than once, as for an event that was routed
 * again.
 */
function inOrder(attempts: readonly AttemptRow[]): AttemptRow[] {
  return [...Map.groupBy(attempts, ({ delivery }) => delivery).values()].flatMap((each) => {
    const isCountedOnce = each.filter(({ attempt }) => attempt === 1).length <= 1;
    return each.toSorted(
      (one, other) =>
        (isCountedOnce && one.attempt - other.attempt) || one.at - other.at || one.attempt - other.attempt,
    );
  });
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
