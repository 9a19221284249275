import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '../tables.ts';

/**
 * A place in the order of the log: after all commits with lower numbers, and after the rows of its own commit up to `within`. The
 * chunk shows that the number still means the same commit: a log that was restored, or failed over, may have reused the number.
 */
export type LogPlace = { number: number; chunk?: string; within?: EndKey };

/** Identifies an end in a chunk, in the chunk's order. */
export type EndKey = { delivery: string; at: number; attempt: number };

/** The times are those of its first and last record. */
export type CommitRow = { number: number; chunk: string; firstAt: number; lastAt: number };

/** Before every commit. */
export const OLDEST: LogPlace = { number: 0 };

/** Pattern of a written place: any match can be read. */
export const PLACE_PATTERN = String.raw`^[0-9]{1,15}\.-?[0-9]{1,19}(\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9]{1,15}\.[0-9]{1,9})?$`;

/** The text is opaque to clients, so that it may change. */
export function writePlace({ number, chunk = '0', within }: LogPlace): string {
  const place = [number, chunk, ...(within === undefined ? [] : [within.delivery, within.at, within.attempt])];
  return place.join('.');
}

/** Reads a text that matches the pattern. */
export function readPlace(text: string): LogPlace {
  const [number, chunk = '', delivery, at, attempt] = text.split('.');
  const within = delivery === undefined ? {} : { within: { delivery, at: Number(at), attempt: Number(attempt) } };
  return { number: Number(number), chunk, ...within };
}

/** Whether everything after a place is still kept. */
export async function isKept(postgres: Queryable, { number, chunk }: LogPlace): Promise<boolean> {
  if (number === 0 || chunk === undefined) return true;
  const { rows } = await postgres.query({
    name: 'commit-kept',
    text: 'select from delivery_log.commits where number = $1 and chunk::text = $2',
    values: [number, chunk],
  });
  return rows.length > 0;
}

/** Returns the commits after a place, in order, including its own if rows of that follow the place. */
export async function commitsAfter(
  postgres: Queryable,
  { number, within }: LogPlace,
  limit: number,
): Promise<CommitRow[]> {
  const { rows } = await postgres.query<CommitRow>({
    name: 'commits-after',
    text: `select number::float8 as number, chunk, ${ms('first_at')} as "firstAt", ${ms('last_at')} as "lastAt"
           from delivery_log.commits where number > $1 order by number limit $2`,
    values: [within === undefined ? number : number - 1, limit],
  });
  return rows;
}

/** A record is committed after it is made; because clocks differ, its time may be later than the commit by at most this. */
const SOONER_MS = 86_400_000;

/** Returns a place before everything that happened at a time, in milliseconds since the epoch, or later. */
export async function placeAt(postgres: Queryable, atMs: number): Promise<LogPlace> {
  const { rows } = await postgres.query<{ number: number; chunk: string | null }>({
    name: 'commit-at',
    text: `select number::float8 as number, chunk from (
             select min(number) - 1 as number, null::bigint as chunk
             from delivery_log.commits where at >= ${time('$1')} and last_at >= ${time('$2')}
             union all
             select * from (select number, chunk from delivery_log.commits order by number desc limit 1) last
           ) p where number is not null order by chunk nulls first limit 1`,
    values: [atMs - SOONER_MS, atMs],
  });
  const [{ number, chunk } = { number: 0, chunk: null }] = rows;
  return chunk === null ? { number } : { number, chunk };
}

/** Returns when the oldest commit was, in milliseconds since the epoch. */
export async function oldestKept(postgres: Queryable): Promise<number | undefined> {
  const { rows } = await postgres.query<{ at: number }>(
    `select ${ms('at')} as at from delivery_log.commits order by number limit 1`,
  );
  return rows[0]?.at;
}
