import type { Queryable } from '@waybell/runtime/postgres';
import { unpackChunk } from '../tables.ts';

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

/** The place where a body is kept. */
export type BodyPlace = { chunk: string; place: number };

/** Finds the last body of each of these deliveries; some are in the delivery's own row. Undefined if there is none. */
export async function bodyPlacesOf(
  postgres: Queryable,
  deliveries: readonly { delivery: string; chunk: string; place: number | null }[],
): Promise<(BodyPlace | undefined)[]> {
  const others = deliveries.filter(({ place }) => place === null);
  if (others.length === 0) return deliveries.map(({ chunk, place }) => (place === null ? undefined : { chunk, place }));
  const { rows } = await postgres.query<BodyPlace & { delivery: string }>({
    name: 'body-places',
    text: `select a.* from unnest($1::uuid[]) as wanted (delivery) cross join lateral (
             select delivery, chunk, place from delivery_log.attempts m
             where m.delivery = wanted.delivery and m.place is not null order by m.at desc limit 1
           ) a`,
    values: [others.map(({ delivery }) => delivery)],
  });
  const found = new Map(rows.map(({ delivery, ...where }) => [delivery, where]));
  return deliveries.map(({ delivery, chunk, place }) => (place === null ? found.get(delivery) : { chunk, place }));
}

/** Chunks are read a few at a time: each may have some MiB. */
const CHUNKS_TOGETHER = 4;

/** Returns bodies, null for those that are not kept, until their sum reaches the limit in bytes; the first in any case. */
export async function bodiesWithin(
  postgres: Queryable,
  places: readonly (BodyPlace | undefined)[],
  mostBytes: number,
): Promise<(string | null)[]> {
  const bodies: (string | null)[] = [];
  let [bytes, chunks] = [0, new Map<string, Buffer[]>()];
  for (const [index, where] of places.entries()) {
    if (where !== undefined && !chunks.has(where.chunk)) chunks = await chunksOf(postgres, places.slice(index));
    const body = where && chunks.get(where.chunk)?.[where.place];
    bytes += body?.length ?? 0;
    if (index > 0 && bytes > mostBytes) break;
    bodies.push(body?.toString() ?? null);
  }
  return bodies;
}

/** The bodies of the first chunks of these places; none of one that is not kept. */
async function chunksOf(
  postgres: Queryable,
  places: readonly (BodyPlace | undefined)[],
): Promise<Map<string, Buffer[]>> {
  const wanted = [...new Set(places.flatMap((where) => where?.chunk ?? []))].slice(0, CHUNKS_TOGETHER);
  const { rows } = await postgres.query<{ chunk: string; bytes: Buffer }>({
    name: 'chunks',
    text: 'select chunk, bytes from delivery_log.chunks where chunk = any ($1::bigint[])',
    values: [wanted],
  });
  const kept = new Map(rows.map(({ chunk, bytes }) => [chunk, unpackChunk(bytes)]));
  return new Map(wanted.map((chunk) => [chunk, kept.get(chunk) ?? []]));
}
