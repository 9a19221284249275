import { hexOf, type WaitingConnection, type WaitingService } from './waiting-connection.ts';
import { CLAIM_MS, type ClaimedRoom, type WaitingStore } from './waiting-store.ts';

const CLAIMED_UNTIL = `now() + interval '${CLAIM_MS} milliseconds'`;

const DESCRIBED = `${hexOf('r.room')} as room, r.name, r.account,
  (1000 * extract(epoch from now() - r.shut_since))::float8 as "shutForMs", r.changes, r.over_before::float8 as "overBefore", r.deaths as crashes`;

/** Only where another process' claim ran out has that process died, or stood still. */
const claimed = (service: WaitingService, rooms: string): string => `
  update waybell.${service}_rooms r set claimed_by = $1, look_at = ${CLAIMED_UNTIL},
    deaths = deaths + (claimed_by is not null and claimed_by <> $1)::int
  where r.room = any (array(${rooms})) returning ${DESCRIBED}`;

/** A locked room is being claimed or changed: the next look finds it. */
const LOCKED = 'for no key update skip locked';

/** Limit of the changed rooms that are claimed in addition. */
const MOST_CHANGED = 64;

/** While a room is claimed, \`look_at\` is the end of the claim: it is due again when that is over. */
const claimEndpoints = (service: WaitingService): string => {
  const due = (which: string, most: string) => `
    select room from waybell.${service}_rooms
    where name is null and ${which} and look_at <= now() and (account is null or account <> all ($4::uuid[]))
    order by look_at limit ${most} ${LOCKED}`;
  return `
  with changed as materialized (
    select room from waybell.${service}_rooms
    where (changes > 0 or over_before is not null) and (claimed_by = $1
      or (claimed_by is null or look_at <= now()) and (account is null or account <> all ($4::uuid[])))
    order by look_at limit ${MOST_CHANGED} ${LOCKED}
  ), open as materialized (${due('shut_since is null', '$2::int')}
  ), shut as materialized (${due('shut_since is not null', '$3::int')}
  )
  ${claimed(service, 'select room from changed union all select room from open union all select room from shut')}`;
};

const claimNamed = (service: WaitingService): string => `
  with named as materialized (
    select room from waybell.${service}_rooms
    where room = any ($2::uuid[]) and (claimed_by is null or claimed_by = $1 or look_at <= now()) order by room ${LOCKED}
  )
  ${claimed(service, 'select room from named')}`;

const claimDestinations = (service: WaitingService, isAnyDue: boolean): string => `
  with due as materialized (
    select room from waybell.${service}_rooms
    where name is not null and (look_at <= now() ${isAnyDue ? 'or claimed_by is null' : ''}) order by look_at limit $2::int ${LOCKED}
  )
  ${claimed(service, 'select room from due')}`;

/** Takes back crashes that were counted because other processes have claimed rooms of a process that was slow, but alive. */
const renew = (service: WaitingService): string => `
  update waybell.${service}_rooms r set look_at = case when claimed_by = $1 then ${CLAIMED_UNTIL} else look_at end,
    deaths = case when claimed_by <> $1 then greatest(0, deaths - 1) when k.lives then 0 else deaths end
  from (select * from unnest($2::uuid[], $3::bool[]) as k (room, lives) order by room) k
  where r.room = any (array[k.room]) and (claimed_by <> $1 or look_at > now())
  returning ${DESCRIBED}, claimed_by = $1 as "isOwn"`;

const release = (service: WaitingService): string => `
  select ${hexOf('gone')} as room from waybell.release_${service}_rooms($1, $2::uuid[], $3::float8[], $4::float8[]) gone`;

const shutRooms = (service: WaitingService): string => `
  select ${hexOf('r.room')} as room, (1000 * extract(epoch from now() - r.shut_since))::float8 as "shutForMs"
  from waybell.${service}_rooms r where name is null and shut_since is not null`;

const noteScanned = (service: WaitingService): string => `
  update waybell.${service}_rooms set changes = greatest(0, changes - $3),
    over_before = case when over_before <= $4::bigint then null else over_before end
  where room = $2 and claimed_by = $1`;

type RoomFound = {
  room: string;
  name: string | null;
  account: string | null;
  shutForMs: number | null;
  changes: number;
  overBefore: number | null;
  crashes: number;
};

export function claimsIn({
  service,
  process,
  ask,
}: WaitingConnection): Pick<WaitingStore, 'claim' | 'renew' | 'release' | 'shutRooms' | 'noteScanned'> {
  const claiming = async (name: string, text: string, values: unknown[]) =>
    (await ask<RoomFound>(name, text, [process, ...values])).map(describe);
  return {
    claim(claim) {
      if (claim.kind === 'endpoints') {
        return claiming('claim', claimEndpoints(service), [claim.open, claim.shut, claim.exceptAccounts]);
      }
      if (claim.kind === 'named') return claiming('claim-named', claimNamed(service), [claim.rooms]);
      const { most, isAnyDue } = claim;
      return claiming(`claim-${isAnyDue ? 'any' : 'due'}`, claimDestinations(service, isAnyDue), [most]);
    },
    async renew(rooms) {
      if (rooms.length === 0) return [];
      const values = [process, rooms.map(({ room }) => room), rooms.map(({ lives }) => lives)];
      const found = await ask<RoomFound & { isOwn: boolean }>('renew', renew(service), values);
      return found.filter(({ isOwn }) => isOwn).map(describe);
    },
    async release(rooms) {
      if (rooms.length === 0) return [];
      const gone = await ask<{ room: string }>('release', release(service), [
        process,
        rooms.map(({ room }) => room),
        rooms.map(({ afterMs }) => afterMs ?? null),
        rooms.map(({ shutForMs }) => shutForMs ?? null),
      ]);
      return gone.map(({ room }) => room);
    },
    async shutRooms() {
      const shut = await ask<{ room: string; shutForMs: number }>('shut', shutRooms(service), []);
      return new Map(shut.map(({ room, shutForMs }) => [room, shutForMs]));
    },
    async noteScanned(room, { changes, overBefore }) {
      await ask('looked-through', noteScanned(service), [process, room, changes, overBefore ?? null]);
    },
  };
}

function describe({ room, name, account, shutForMs, changes, overBefore, crashes }: RoomFound): ClaimedRoom {
  return {
    room,
    changes,
    crashes,
    ...(name === null ? {} : { name }),
    ...(account === null ? {} : { account }),
    ...(shutForMs === null ? {} : { shutForMs }),
    ...(overBefore === null ? {} : { overBefore }),
  };
}
