import type { SumChange } from './sum-changes.ts';
import type { WaitingConnection, WaitingService } from './waiting-connection.ts';
import type { HeldSum, WaitingFigures, WaitingLimits, WaitingStore, WaitingSum } from './waiting-store.ts';

/** Sums drift a little, and to find a few rows takes as long as to find many. */
const WELL_BEYOND = 1.01;

/** A room that is a holder itself is written in two ways: as rows were put, and as Postgres writes it. */
const add = (service: WaitingService): string => `
  insert into waybell.${service}_waiting_sums as s (holder, name, rows, bytes)
  select holder, max(name), sum(rows)::bigint, sum(bytes)::bigint
  from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) as c (holder, name, rows, bytes) group by holder order by holder
  on conflict (holder) do update set rows = s.rows + excluded.rows, bytes = s.bytes + excluded.bytes`;

/** Accounts without rooms, whatever their sum says. Limited, because each is looked up. */
const roomless = (service: WaitingService): string => `
  (select true from waybell.${service}_rooms r where r.room = s.holder limit 1) is null
  and (select true from waybell.${service}_rooms r where r.account = s.holder limit 1) is null`;

const findRoomless = (service: WaitingService): string => `
  select holder, rows::float8, bytes::float8 from waybell.${service}_waiting_sums s where ${roomless(service)}`;

/** Deletes sums that have not changed since they were found: no process has changes of them to store. */
const dropRoomless = (service: WaitingService): string => `
  delete from waybell.${service}_waiting_sums s
  using (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as k (holder, rows, bytes) order by holder) k
  where s.holder = k.holder and (s.rows, s.bytes) = (k.rows, k.bytes) and ${roomless(service)}`;

const sums = (service: WaitingService): string => `
  with held as materialized (
    select holder, rows::float8, bytes::float8 from waybell.${service}_waiting_sums where name is null and rows > 0
  )
  select null::uuid as holder, coalesce(sum(rows), 0) as rows, coalesce(sum(bytes), 0) as bytes from held
  union all (
    select * from held where rows > ${WELL_BEYOND} * $1::float8 or bytes > ${WELL_BEYOND} * $2::float8
    union (select * from held order by bytes desc, holder limit 1))`;

/** Measures bodies before the sort, which would carry them along. */
const newestWithin = (service: WaitingService): string => `
  with held as materialized (
    select w.* from waybell.${service}_rooms r cross join lateral (
      select made_at, coalesce(octet_length(body), 0) + octet_length(properties) as size from waybell.${service}_waiting w
      where w.room = r.room offset 0
    ) w where r.account = $1
  )
  select coalesce(min(made_at) filter (where is_within), max(made_at) + 1) as since, count(*) as rows, sum(size) as bytes,
    count(*) filter (where not is_within)::int as others
  from (
    select made_at, size, row_number() over newest <= $2::float8 and sum(size) over newest <= $3::float8 as is_within from held
    window newest as (order by made_at desc rows unbounded preceding)
  ) counted`;

const mark = (service: WaitingService): string => `
  update waybell.${service}_rooms r set over_before = $2, look_at = case when claimed_by is null then now() else look_at end
  where room in (
    select room from waybell.${service}_rooms r
    where account = $1 and (select made_at from waybell.${service}_waiting w where w.room = r.room order by made_at limit 1) < $2
    order by room for no key update)`;

const correct = (service: WaitingService): string => `
  insert into waybell.${service}_waiting_sums as s (holder, rows, bytes) values ($1, $2, $3)
  on conflict (holder) do update set rows = excluded.rows, bytes = excluded.bytes`;

const figures = (service: WaitingService): string => `
  select is_endpoint as "isEndpoint", s.rows, s.bytes, o."oldestAt"
  from (values (true), (false)) as kind (is_endpoint)
  cross join lateral (
    select coalesce(sum(rows), 0)::float8 as rows, coalesce(sum(bytes), 0)::float8 as bytes
    from waybell.${service}_waiting_sums where (name is null) = is_endpoint
  ) s
  cross join lateral (
    select min(first.made_at)::float8 as "oldestAt" from waybell.${service}_rooms r cross join lateral (
      select made_at from waybell.${service}_waiting w where w.room = r.room order by made_at, id limit 1
    ) first where (r.name is null) = is_endpoint
  ) o`;

/** Sums without rooms are searched for once after this many times of storing changes. */
const TIDIED_AFTER = 60;

type Newest = { since: string | null; rows: string; bytes: string; others: number };

export function sumsIn(
  connection: WaitingConnection,
): Pick<WaitingStore, 'flushSums' | 'sumsBeyond' | 'endBeyond' | 'figures'> {
  const { service, ask, atLength } = connection;
  let [times, found]: [number, HeldSum[]] = [0, []];
  const tidy = async () => {
    if (found.length > 0) await ask('drop-roomless', dropRoomless(service), columnsOf(found));
    found = await ask<HeldSum>('find-roomless', findRoomless(service), []);
  };
  return {
    async flushSums() {
      await connection.sums.flush(async (changes) => {
        const [holders, rows, bytes] = columnsOf(changes);
        await ask('add-to-sums', add(service), [holders, changes.map(({ name }) => name ?? null), rows, bytes]);
      });
      if ((times += 1) % TIDIED_AFTER === 0) await tidy();
    },
    async sumsBeyond(limits) {
      const { rows, bytes } = limits.ofAccount;
      const all = { rows: 0, bytes: 0 };
      const held: HeldSum[] = [];
      for (const { holder, ...sum } of await ask<Omit<HeldSum, 'holder'> & { holder: string | null }>(
        'sums',
        sums(service),
        [rows, bytes],
      )) {
        if (holder === null) Object.assign(all, sum);
        else held.push({ holder, ...sum });
      }
      return { all, beyond: accountsBeyond(all, held, limits) };
    },
    endBeyond: (account, { rows, bytes }) =>
      atLength(async (query) => {
        const [free] = await query<{ isFree: boolean }>(
          `select pg_try_advisory_xact_lock(hashtext('waybell.${service}_waiting'), hashtext($1)) and not exists (
             select from waybell.${service}_rooms where account = $1::uuid and over_before is not null) as "isFree"`,
          [account],
        );
        if (free?.isFree !== true) return true;
        const [newest] = await query<Newest>(newestWithin(service), [account, rows, bytes]);
        if (newest === undefined || newest.others === 0) {
          await query(correct(service), [account, newest?.rows ?? 0, newest?.bytes ?? 0]);
          return false;
        }
        await query(mark(service), [account, newest.since]);
        return true;
      }),
    async figures() {
      const rows = await ask<WaitingFigures & { isEndpoint: boolean; oldestAt: number | null }>(
        'figures',
        figures(service),
        [],
      );
      const of = (wanted: boolean): WaitingFigures => {
        const {
          rows: count = 0,
          bytes = 0,
          oldestAt = null,
        } = rows.find(({ isEndpoint }) => isEndpoint === wanted) ?? {};
        return { rows: count, bytes, ...(oldestAt === null ? {} : { oldestAt }) };
      };
      return { endpoints: of(true), destinations: of(false) };
    },
  };
}

const columnsOf = (changes: readonly SumChange[]): unknown[] => [
  changes.map(({ holder }) => holder),
  changes.map(({ rows }) => rows),
  changes.map(({ bytes }) => bytes),
];

/**
 * Finds accounts that exceed a limit: their own, or, for the largest by bytes, the one for all together. `held`: the largest, and
 * at least those beyond their own.
 */
export function accountsBeyond(
  all: WaitingSum,
  held: readonly HeldSum[],
  limits: WaitingLimits,
): (HeldSum & { mayHave: WaitingSum })[] {
  const tooMany = all.bytes > WELL_BEYOND * limits.allBytes ? all.bytes - limits.allBytes : 0;
  const [largest] = held.toSorted((one, other) => other.bytes - one.bytes);
  return held.flatMap((sum) => {
    const left = tooMany > 0 && sum === largest ? Math.max(0, sum.bytes - tooMany) : Infinity;
    const mayHave = { rows: limits.ofAccount.rows, bytes: Math.min(limits.ofAccount.bytes, left) };
    const isBeyond = sum.rows > WELL_BEYOND * mayHave.rows || sum.bytes > WELL_BEYOND * mayHave.bytes;
    return isBeyond ? [{ ...sum, mayHave }] : [];
  });
}
