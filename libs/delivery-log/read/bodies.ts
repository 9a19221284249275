import type { Queryable } from '@waybell/runtime/postgres';
import { unpackChunk } from '../chunk.ts';

/** Finds the chunk of a row `r`, which is of the same day; it goes earlier than the row. */
export const chunkOf = (row: string): string => `
  select * from delivery_log.chunks
  where chunk = ${row}.chunk and at >= date_trunc('day', ${row}.at, 'UTC') and at < date_trunc('day', ${row}.at, 'UTC') + interval '1 day'`;

/** True for a row whose body is still kept. */
export const isStored = (row: string): string => `(${row}.place is not null and exists (${chunkOf(row)}))`;

/** A query for the last body of a delivery: `bytes` of its chunk, and `place`. */
export const bodyOfDelivery = (delivery: string): string => `
  select c.bytes, a.place from delivery_log.attempts a cross join lateral (${chunkOf('a')}) c
  where a.delivery = ${delivery} and a.place is not null order by a.at desc limit 1`;

/** Returns the body that was sent, while it is kept. */
export async function bodyOf(postgres: Queryable, delivery: string): Promise<string | undefined> {
  const { rows } = await postgres.query<{ bytes: Buffer; place: number }>({
    name: 'history-body',
    text: bodyOfDelivery('$1'),
    values: [delivery],
  });
  return bodyIn(rows[0] ?? { bytes: null, place: null })?.toString();
}

/** Returns a body of a chunk; undefined if it is not kept. */
export function bodyIn({ bytes, place }: { bytes: Buffer | null; place: number | null }): Buffer | undefined {
  return bytes === null || place === null ? undefined : unpackChunk(bytes)[place];
}
