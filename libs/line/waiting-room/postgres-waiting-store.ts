/**
 * Stores waiting rows in Postgres: `waitingIn` joins its parts. Rows are put, read, deleted and moved in `waiting-rows.ts`; here are
 * the claims of rooms, and the sums by which limits are kept.
 */
import { connectionOf, hexOf, SumChanges, type WaitingConnection, type WaitingPostgres } from './waiting-connection.ts';
import { movesIn, rowsIn } from './waiting-rows.ts';
import {
  CLAIM_MS,
  type ClaimedRoom,
  type HeldSum,
  type WaitingLimits,
  type WaitingStore,
  type WaitingSum,
} from './waiting-store.ts';

export { WAITING_SETTINGS } from './waiting-connection.ts';

/**
 * Stores waiting rows in Postgres, over connections with `WAITING_SETTINGS`. `process`: the guid of this one, new at each start.
 */
export function waitingIn(postgres: WaitingPostgres, of: { process: string }): WaitingStore {
  const connection = connectionOf(postgres, { ...of, sums: new SumChanges() });
  return { ...rowsIn(connection), ...claimsIn(connection), ...movesIn(connection), ...sumsIn(connection) };
}

type RoomFound = {
  room: string;
  account: string | null;
  shutForMs: number | null;
  changes: number;
  overBefore: number | null;
  crashes: number;
};

const CLAIMED_UNTIL = `now() + interval '${CLAIM_MS} milliseconds'`;
const DESCRIBED = `${hexOf('r.room')} as room, r.account,
  (1000 * extract(epoch from now() - r.shut_since))::float8 as "shutForMs", r.changes, r.over_before::float8 as "overBefore", r.deaths as crashes`;

/** Only where another process' claim ran out has that process died, or stood still. */
const claimed = (rooms: string): string => `
  update waybell.deliverer_rooms r set claimed_by = $1, look_at = ${CLAIMED_UNTIL},
    deaths = deaths + (claimed_by is not null and claimed_by <> $1)::int
  where r.room = any (array(${rooms})) returning ${DESCRIBED}`;

/** A locked room is being claimed or changed: the next look finds it. */
const LOCKED = 'for no key update skip locked';

/** Limit of the changed rooms that are claimed in addition. */
const MOST_CHANGED = 64;

const due = (which: string, most: string): string => `
  select room from waybell.deliverer_rooms
  where name is null and ${which} and look_at <= now() and (account is null or account <> all ($4::uuid[]))
  order by look_at limit ${most} ${LOCKED}`;

/** While a room is claimed, `look_at` is the end of the claim: it is due again when that is over. */
const claimEndpoints = `
  with changed as materialized (
    select room from waybell.deliverer_rooms
    where (changes > 0 or over_before is not null) and (claimed_by = $1
      or (claimed_by is null or look_at <= now()) and (account is null or account <> all ($4::uuid[])))
    order by look_at limit ${MOST_CHANGED} ${LOCKED}
  ), open as materialized (${due('shut_since is null', '$2::int')}
  ), shut as materialized (${due('shut_since is not null', '$3::int')}
  )
  ${claimed('select room from changed union all select room from open union all select room from shut')}`;

const claimNamed = `
  with named as materialized (
    select room from waybell.deliverer_rooms
    where room = any ($2::uuid[]) and (claimed_by is null or claimed_by = $1 or look_at <= now()) order by room ${LOCKED}
  )
  ${claimed('select room from named')}`;

/** Takes back crashes that were counted because other processes have claimed rooms of a process that was slow, but alive. */
const renew = `
  update waybell.deliverer_rooms r set look_at = case when claimed_by = $1 then ${CLAIMED_UNTIL} else look_at end,
    deaths = case when claimed_by <> $1 then greatest(0, deaths - 1) when k.lives then 0 else deaths end
  from (select * from unnest($2::uuid[], $3::bool[]) as k (room, lives) order by room) k
  where r.room = any (array[k.room]) and (claimed_by <> $1 or look_at > now())
  returning ${DESCRIBED}, claimed_by = $1 as "isOwn"`;

const release = `
  select ${hexOf('gone')} as room from waybell.release_deliverer_rooms($1, $2::uuid[], $3::float8[], $4::float8[]) gone`;

const shutRooms = `
  select ${hexOf('r.room')} as room, (1000 * extract(epoch from now() - r.shut_since))::float8 as "shutForMs"
  from waybell.deliverer_rooms r where name is null and shut_since is not null`;

const noteScanned = `
  update waybell.deliverer_rooms set changes = greatest(0, changes - $3),
    over_before = case when over_before <= $4::bigint then null else over_before end
  where room = $2 and claimed_by = $1`;

function claimsIn({
  process,
  ask,
}: WaitingConnection): Pick<WaitingStore, 'claim' | 'renew' | 'release' | 'shutRooms' | 'noteScanned'> {
  const claiming = async (name: string, text: string, values: unknown[]) =>
    (await ask<RoomFound>(name, text, [process, ...values])).map(describe);
  return {
    claim(claim) {
      if (claim.kind === 'endpoints') {
        return claiming('claim', claimEndpoints, [claim.open, claim.shut, claim.exceptAccounts]);
      }
      return claiming('claim-named', claimNamed, [claim.rooms]);
    },
    async renew(rooms) {
      if (rooms.length === 0) return [];
      const values = [process, rooms.map(({ room }) => room), rooms.map(({ lives }) => lives)];
      const found = await ask<RoomFound & { isOwn: boolean }>('renew', renew, values);
      return found.filter(({ isOwn }) => isOwn).map(describe);
    },
    async release(rooms) {
      if (rooms.length === 0) return [];
      const gone = await ask<{ room: string }>('release', release, [
        process,
        rooms.map(({ room }) => room),
        rooms.map(({ afterMs }) => afterMs ?? null),
        rooms.map(({ shutForMs }) => shutForMs ?? null),
      ]);
      return gone.map(({ room }) => room);
    },
    async shutRooms() {
      const shut = await ask<{ room: string; shutForMs: number }>('shut', shutRooms, []);
      return new Map(shut.map(({ room, shutForMs }) => [room, shutForMs]));
    },
    async noteScanned(room, { changes, overBefore }) {
      await ask('looked-through', noteScanned, [process, room, changes, overBefore ?? null]);
    },
  };
}

function describe({ room, account, shutForMs, changes, overBefore, crashes }: RoomFound): ClaimedRoom {
  return {
    room,
    changes,
    crashes,
    ...(account === null ? {} : { account }),
    ...(shutForMs === null ? {} : { shutForMs }),
    ...(overBefore === null ? {} : { overBefore }),
  };
}

/** Sums without rooms are searched for once after this many times of storing changes. */
const TIDIED_AFTER = 60;

type Newest = { since: string | null; rows: string; bytes: string; others: number };

function sumsIn(
  connection: WaitingConnection,
): Pick<WaitingStore, 'flushSums' | 'sumsBeyond' | 'endBeyond' | 'figures'> {
  const { ask, atLength } = connection;
  let [times, found]: [number, HeldSum[]] = [0, []];
  const tidy = async () => {
    if (found.length > 0) await ask('drop-roomless', dropRoomless, columnsOf(found));
    found = await ask<HeldSum>('find-roomless', findRoomless, []);
  };
  return {
    async flushSums() {
      await connection.sums.flush(async (changes) => {
        await ask('add-to-sums', add, columnsOf(changes));
      });
      if ((times += 1) % TIDIED_AFTER === 0) await tidy();
    },
    async sumsBeyond(limits) {
      const { rows, bytes } = limits.ofAccount;
      const all = { rows: 0, bytes: 0 };
      const held: HeldSum[] = [];
      for (const { holder, ...sum } of await ask<Omit<HeldSum, 'holder'> & { holder: string | null }>('sums', sums, [
        rows,
        bytes,
      ])) {
        if (holder === null) Object.assign(all, sum);
        else held.push({ holder, ...sum });
      }
      return { all, beyond: accountsBeyond(all, held, limits) };
    },
    endBeyond: (account, { rows, bytes }) =>
      atLength(async (query) => {
        const [free] = await query<{ isFree: boolean }>(
          `select pg_try_advisory_xact_lock(hashtext('waybell.deliverer_waiting'), hashtext($1)) and not exists (
             select from waybell.deliverer_rooms where account = $1::uuid and over_before is not null) as "isFree"`,
          [account],
        );
        if (free?.isFree !== true) return true;
        const [newest] = await query<Newest>(newestWithin, [account, rows, bytes]);
        if (newest === undefined || newest.others === 0) {
          await query(correct, [account, newest?.rows ?? 0, newest?.bytes ?? 0]);
          return false;
        }
        await query(mark, [account, newest.since]);
        return true;
      }),
    async figures() {
      const [counted] = await ask<WaitingSum & { oldestAt: number | null }>('figures', figures, []);
      const { rows = 0, bytes = 0, oldestAt = null } = counted ?? {};
      return { rows, bytes, ...(oldestAt === null ? {} : { oldestAt }) };
    },
  };
}

const columnsOf = (changes: readonly HeldSum[]): unknown[] => [
  changes.map(({ holder }) => holder),
  changes.map(({ rows }) => rows),
  changes.map(({ bytes }) => bytes),
];

/** Sums drift a little, and to find a few rows takes as long as to find many. */
const WELL_BEYOND = 1.01;

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

const add = `
  insert into waybell.deliverer_waiting_sums as s (holder, rows, bytes)
  select holder, rows, bytes from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as c (holder, rows, bytes) order by holder
  on conflict (holder) do update set rows = s.rows + excluded.rows, bytes = s.bytes + excluded.bytes`;

/** Accounts without rooms, whatever their sum says. Limited, because each is looked up. */
const roomless = `
  (select true from waybell.deliverer_rooms r where r.room = s.holder limit 1) is null
  and (select true from waybell.deliverer_rooms r where r.account = s.holder limit 1) is null`;

const findRoomless = `
  select holder, rows::float8, bytes::float8 from waybell.deliverer_waiting_sums s where ${roomless}`;

/** Deletes sums that have not changed since they were found: no process has changes of them to store. */
const dropRoomless = `
  delete from waybell.deliverer_waiting_sums s
  using (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as k (holder, rows, bytes) order by holder) k
  where s.holder = k.holder and (s.rows, s.bytes) = (k.rows, k.bytes) and ${roomless}`;

const sums = `
  with held as materialized (
    select holder, rows::float8, bytes::float8 from waybell.deliverer_waiting_sums where name is null and rows > 0
  )
  select null::uuid as holder, coalesce(sum(rows), 0) as rows, coalesce(sum(bytes), 0) as bytes from held
  union all (
    select * from held where rows > ${WELL_BEYOND} * $1::float8 or bytes > ${WELL_BEYOND} * $2::float8
    union (select * from held order by bytes desc, holder limit 1))`;

/** Measures bodies before the sort, which would carry them along. */
const newestWithin = `
  with held as materialized (
    select w.* from waybell.deliverer_rooms r cross join lateral (
      select made_at, coalesce(octet_length(body), 0) + octet_length(properties) as size from waybell.deliverer_waiting w
      where w.room = r.room offset 0
    ) w where r.account = $1
  )
  select coalesce(min(made_at) filter (where is_within), max(made_at) + 1) as since, count(*) as rows, sum(size) as bytes,
    count(*) filter (where not is_within)::int as others
  from (
    select made_at, size, row_number() over newest <= $2::float8 and sum(size) over newest <= $3::float8 as is_within from held
    window newest as (order by made_at desc rows unbounded preceding)
  ) counted`;

const mark = `
  update waybell.deliverer_rooms r set over_before = $2, look_at = case when claimed_by is null then now() else look_at end
  where room in (
    select room from waybell.deliverer_rooms r
    where account = $1 and (select made_at from waybell.deliverer_waiting w where w.room = r.room order by made_at limit 1) < $2
    order by room for no key update)`;

const correct = `
  insert into waybell.deliverer_waiting_sums as s (holder, rows, bytes) values ($1, $2, $3)
  on conflict (holder) do update set rows = excluded.rows, bytes = excluded.bytes`;

const figures = `
  select s.rows, s.bytes, o."oldestAt"
  from (
    select coalesce(sum(rows), 0)::float8 as rows, coalesce(sum(bytes), 0)::float8 as bytes
    from waybell.deliverer_waiting_sums where name is null
  ) s
  cross join (
    select min(first.made_at)::float8 as "oldestAt" from waybell.deliverer_rooms r cross join lateral (
      select made_at from waybell.deliverer_waiting w where w.room = r.room order by made_at, id limit 1
    ) first where r.name is null
  ) o`;
