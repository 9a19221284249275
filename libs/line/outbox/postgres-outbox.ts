import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { asSent, readRow } from '../delivery-batch.ts';
import { type Publication, publishAgain } from '../messages.ts';
import { isStoreAway } from '../waiting-room/waiting-connection.ts';
import type { WaitingFigures } from '../waiting-room/waiting-store.ts';

/** The services that have an outbox, as their tables begin. */
export const outboxServices = ['deliverer', 'router'] as const;
type OutboxService = (typeof outboxServices)[number];

/** A publication that waits for its destination. `destination`: `<exchange> <routing key>`. */
export type OutboxRow = { id: string; destination: string; publication: Publication };

/** The destinations to claim from: all but those in `shut`; one row of each, or a share of all that may be claimed of those in `open`. */
export type OutboxClaim = { open: readonly string[]; shut: readonly string[]; claimMs: number };

/** Rows of an outbox. All methods reject with `Unavailable` while Postgres is away. */
export type OutboxStore = {
  /** Resolves when all are committed. A row that exists already stays. `afterMs`: not due before this many milliseconds have passed. */
  put(rows: readonly (OutboxRow & { afterMs: number })[]): Promise<void>;
  /** Claims due rows, some of each destination: they are due again when the claim runs out. Those that are being claimed are left out. */
  claim(claim: OutboxClaim): Promise<OutboxRow[]>;
  settle(rows: readonly OutboxRow[]): Promise<void>;
  /** Makes rows due whose destination did not take them. */
  keep(rows: readonly OutboxRow[]): Promise<void>;
  /** Counts all rows. */
  figures(): Promise<WaitingFigures>;
  /** Moves some of what release 0.3.0 left in the waiting room here. Resolves with how many rows: 0 when nothing is left. */
  takeOver(): Promise<number>;
};

/** Rows claimed at once, at most, beside one of each destination; and bytes of their bodies, unless the first alone has more. */
const MOST_ROWS = 512;
const MOST_BYTES = 2 ** 22;

const put = (service: OutboxService): string => `
  insert into waybell.${service}_outbox (id, destination, due_at, properties, body)
  select id, destination, now() + make_interval(secs => after_ms / 1000), properties, body
  from unnest($1::uuid[], $2::text[], $3::float8[], $4::text[], $5::bytea[]) as r (id, destination, after_ms, properties, body)
  on conflict do nothing`;

/**
 * Finds the destinations by the index, one after the other, and the first due rows of each: however many rows one has, those of another
 * are not behind them.
 */
const claim = (service: OutboxService): string => `
  with recursive destinations as (
    (select destination from waybell.${service}_outbox order by destination limit 1)
    union all
    select (select o.destination from waybell.${service}_outbox o where o.destination > d.destination order by o.destination limit 1)
    from destinations d where d.destination is not null
  ), asked as materialized (
    select destination, case when destination = any ($1::text[]) then 1 + ${MOST_ROWS} / count(*) over () else 1 end as most
    from destinations where destination is not null and destination <> all ($2::text[])
  ), due as materialized (
    select o.id, o.size, row_number() over (partition by a.destination order by o.due_at) as place
    from asked a cross join lateral (
      select id, due_at, octet_length(body) as size from waybell.${service}_outbox
      where destination = a.destination and due_at <= now() order by due_at limit a.most for no key update skip locked
    ) o
  ), few as (
    select id, place = 1 or sum(size) over (order by place, id) <= ${MOST_BYTES} as fits from due
  )
  update waybell.${service}_outbox o set due_at = now() + make_interval(secs => $3::float8 / 1000)
  from few where few.fits and o.id = few.id returning o.id, o.destination, o.properties, o.body`;

/** Everybody locks rows in the order of their ids: nobody waits in a circle. */
const LOCKED = 'where id = any ($1::uuid[]) order by id for update';

const settle = (service: OutboxService): string => `
  delete from waybell.${service}_outbox o using (select id from waybell.${service}_outbox ${LOCKED}) k where o.id = k.id`;

const keep = (service: OutboxService): string => `
  update waybell.${service}_outbox o set due_at = now(), refused_at = coalesce(refused_at, now())
  from (select id from waybell.${service}_outbox ${LOCKED}) k where o.id = k.id`;

const figures = (service: OutboxService): string => `
  select count(*)::float8 as rows, coalesce(sum(octet_length(properties) + octet_length(body)), 0)::float8 as bytes,
    (1000 * extract(epoch from min(put_at)))::float8 as "oldestAt"
  from waybell.${service}_outbox`;

/** Leaves the rooms that a process of 0.3.0 has claimed, and the rooms themselves, which it looks after. */
const takeOver = (service: OutboxService): string => `
  with few as (
    select w.room, w.made_at, w.id, r.name from waybell.${service}_rooms r
    join waybell.${service}_waiting w on w.room = r.room
    where r.name is not null and (r.claimed_by is null or r.look_at <= now()) limit ${MOST_ROWS} for update of w skip locked
  ), gone as (
    delete from waybell.${service}_waiting w using few k
    where (w.room, w.made_at, w.id) = (k.room, k.made_at, k.id) returning k.name, w.put_at, w.due_at, w.properties, w.body
  )
  insert into waybell.${service}_outbox (id, destination, put_at, due_at, properties, body)
  select gen_random_uuid(), name, put_at, coalesce(due_at, now()), properties, body from gone`;

/** Writes all but the body, as JSON, which can escape NUL; Postgres' text cannot hold it. */
export function writeProperties(publication: Publication): string {
  return JSON.stringify({ ...publication, body: undefined });
}

/** Reads what `writeProperties` wrote, and ignores what a later version added. `deliveries`: release 0.3.0 left a delivery, in no batch yet. */
export function readProperties(properties: string, body: Buffer): Publication {
  const { deliveries, ...publication } = JSON.parse(properties) as Omit<Publication, 'body'> & { deliveries?: true };
  if (deliveries !== true) return { ...publication, body };
  const { traceparent: _, ...headers } = publication.headers ?? {};
  const delivery = publishAgain(readRow(properties, body), publication);
  return asSent(Object.keys(headers).length === 0 ? delivery : { ...delivery, headers });
}

type FoundRow = { id: string; destination: string; properties: string; body: Buffer };

/** Stores the outbox of a service, over connections whose commits are synchronous. */
export function outboxIn(postgres: Pick<Postgres, 'query'>, service: OutboxService): OutboxStore {
  const ask = <Row extends object>(name: string, text: string, values: unknown[] = []) =>
    whenAvailable(
      postgres,
      () => postgres.query<Row>({ name: `${service} outbox ${name}`, text, values }),
      isStoreAway,
    );
  return {
    async put(rows) {
      await ask('put', put(service), [
        rows.map(({ id }) => id),
        rows.map(({ destination }) => destination),
        rows.map(({ afterMs }) => afterMs),
        rows.map(({ publication }) => writeProperties(publication)),
        rows.map(({ publication }) => publication.body),
      ]);
    },
    async claim({ open, shut, claimMs }) {
      const { rows } = await ask<FoundRow>('claim', claim(service), [open, shut, claimMs]);
      return rows.map(({ id, destination, properties, body }) => ({
        id,
        destination,
        publication: readProperties(properties, body),
      }));
    },
    async settle(rows) {
      await ask('settle', settle(service), [rows.map(({ id }) => id)]);
    },
    async keep(rows) {
      await ask('keep', keep(service), [rows.map(({ id }) => id)]);
    },
    async figures() {
      const [counted] = (
        await ask<{ rows: number; bytes: number; oldestAt: number | null }>('figures', figures(service))
      ).rows;
      const { rows = 0, bytes = 0, oldestAt = null } = counted ?? {};
      return { rows, bytes, ...(oldestAt !== null && { oldestAt }) };
    },
    async takeOver() {
      return (await ask('take-over', takeOver(service))).rowCount ?? 0;
    },
  };
}
