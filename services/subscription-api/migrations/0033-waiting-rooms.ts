import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Parked, TARGETS as TARGETS_OF_PARKED } from './0012-parked.ts';
import { OpenRequests } from './0013-open-requests.ts';
import { KeptPublications } from './0014-kept-publications.ts';
import { ParkedEgress } from './0015-parked-egress.ts';
import { ParkedWithoutRecords } from './0016-parked-without-records.ts';
import { ClaimedRequests } from './0018-claimed-requests.ts';
import { ActionsOfDeliverers } from './0027-actions-of-deliverers.ts';
import { ParkedBusy } from './0031-parked-busy.ts';
import { MOVE_DELIVERIES, movePublications } from './move-to-rooms.ts';

/** They made the tables from before. */
const BEFORE = [
  Parked,
  OpenRequests,
  KeptPublications,
  ParkedEgress,
  ParkedWithoutRecords,
  ClaimedRequests,
  ActionsOfDeliverers,
  ParkedBusy,
];

/** The services that have a waiting room, as their tables and their role begin. */
const SERVICES = ['deliverer', 'router'] as const;

/**
 * One waiting room for all that cannot go on: deliveries for an endpoint without room, and publications that RabbitMQ does not take. It
 * takes the place of what was parked, kept and under way, which is moved. Services are stopped meanwhile.
 */
export class WaitingRooms implements MigrationInterface {
  readonly name = 'WaitingRooms1795824000033';

  async up(database: QueryRunner): Promise<void> {
    await database.query(ENDPOINT_OF);
    for (const service of SERVICES) {
      await database.query(tables(service));
      await database.query(release(service));
      await database.query(grants(service));
    }
    await database.query(VIEWS);
    await database.query(DELIVERERS);
    await database.query(TRIGGERS);
    await database.query(MOVE_DELIVERIES);
    for (const service of SERVICES) await database.query(movePublications(service));
    await database.query(TARGETS);
    await database.query(DROP);
  }

  /** Only where nothing waits: what waits in a room is not moved back. */
  async down(database: QueryRunner): Promise<void> {
    await database.query(REFUSE_IF_ANY_WAITS);
    await database.query(DROP_ROOMS);
    for (const Migration of BEFORE) await new Migration().up(database);
    await database.query(`${TARGETS_BEFORE}; grant select on waybell.delivery_targets to waybell_deliverer`);
  }
}

/** The same as `endpointKey` of the deliverer (services/deliverer/endpoints/endpoint.ts). */
const ENDPOINT_OF = `
create function waybell.room_of(account uuid, callback_url text) returns uuid
language sql immutable parallel safe
return encode(substring(sha256(convert_to(account::text || ' ' || split_part(callback_url, '?', 1), 'UTF8')) for 16), 'hex')::uuid;
revoke all on function waybell.room_of(uuid, text) from public`;

/**
 * Rows are inserted and deleted, and updated only to forget a body or to be put again: a transaction that stays open for long costs dead
 * rows behind the cursor of who reads, and no more. While a room is claimed, \`look_at\` is the end of the claim.
 */
const tables = (service: string): string => `
create table waybell.${service}_rooms (
  room uuid primary key,
  -- '<exchange> <routing key>' of a destination; null for an endpoint.
  name text,
  account uuid,
  look_at timestamptz not null default now(),
  claimed_by uuid,
  shut_since timestamptz,
  -- Raised by what becomes of a subscription of the endpoint.
  changes int not null default 0,
  -- Milliseconds since the epoch: rows made before are to end, as their account has too many.
  over_before bigint,
  -- Processes that died over it, one after another, since a row was settled.
  deaths int not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index ${service}_rooms_open on waybell.${service}_rooms (look_at) where name is null and shut_since is null;
create index ${service}_rooms_shut on waybell.${service}_rooms (look_at) where name is null and shut_since is not null;
create index ${service}_rooms_destinations on waybell.${service}_rooms (look_at) where name is not null;
create index ${service}_rooms_changed on waybell.${service}_rooms (look_at) where changes > 0 or over_before is not null;
create index ${service}_rooms_of_account on waybell.${service}_rooms (account) where account is not null;

create table waybell.${service}_waiting (
  room uuid not null,
  -- Milliseconds since the epoch: of a delivery when it was made, of a publication when it was put.
  made_at bigint not null,
  id text collate "C" not null,
  -- Raised by every put, and begun anywhere: only what was taken is settled.
  no int not null default 0,
  subscription uuid,
  put_at timestamptz not null default now(),
  due_at timestamptz,
  why text not null,
  -- The publication but its body, as JSON: what strangers wrote may be no text for Postgres, such as a NUL.
  properties text not null,
  -- Null where it was deleted for an erasure request.
  body bytea,
  primary key (room, made_at, id)
) with (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);

-- By account; of a destination by its room, with its name.
create table waybell.${service}_waiting_sums (
  holder uuid primary key,
  name text,
  rows bigint not null,
  bytes bigint not null
) with (fillfactor = 50)`;

/** A function, so that its second statement sees what the lock of the first waited for. Limits have each room looked up, not all rows read. */
const release = (service: string): string => `
create function waybell.release_${service}_rooms(me uuid, rooms uuid[], after_ms float8[], shut_for_ms float8[])
returns setof uuid language plpgsql volatile as $$
begin
  -- Whoever is putting something in holds the key of the room.
  perform from waybell.${service}_rooms r where r.room = any (rooms) and r.claimed_by = me order by r.room for update;
  return query delete from waybell.${service}_rooms r where r.room = any (rooms) and r.claimed_by = me
    and (select true from waybell.${service}_waiting w where w.room = r.room limit 1) is null returning r.room;
  update waybell.${service}_rooms r set claimed_by = null, deaths = 0,
    shut_since = now() - make_interval(secs => k.shut_ms / 1000),
    look_at = case when k.ms is not null then now() + make_interval(secs => k.ms / 1000)
      when r.changes > 0 or r.over_before is not null or (select true from waybell.${service}_waiting w
        where w.room = r.room and (w.due_at is null or w.due_at <= now()) limit 1) then now()
      else coalesce((select min(w.due_at) from waybell.${service}_waiting w where w.room = r.room), now()) end
  from unnest(rooms, after_ms, shut_for_ms) as k (room, ms, shut_ms) where r.room = any (array[k.room]) and r.claimed_by = me;
end $$;
revoke all on function waybell.release_${service}_rooms(uuid, uuid[], float8[], float8[]) from public`;

const grants = (service: string): string => `
grant select, insert, delete on waybell.${service}_rooms, waybell.${service}_waiting, waybell.${service}_waiting_sums
  to waybell_${service};
grant update (look_at, claimed_by, shut_since, changes, over_before, deaths) on waybell.${service}_rooms to waybell_${service};
grant update (no, due_at, why) on waybell.${service}_waiting to waybell_${service};
grant update (rows, bytes) on waybell.${service}_waiting_sums to waybell_${service};
grant execute on function waybell.release_${service}_rooms(uuid, uuid[], float8[], float8[]) to waybell_${service}`;

const union = (table: string): string =>
  SERVICES.map((service) => `select '${service}' as service, t.* from waybell.${service}_${table} t`).join(
    ' union all ',
  );

/** All of it, for people. */
const VIEWS = `
create view waybell.rooms as ${union('rooms')};
create view waybell.waiting as ${union('waiting')};
create view waybell.waiting_sums as ${union('waiting_sums')}`;

/** The deliverers that live: they divide the limits of endpoints. \`actions\`: which they deliver. */
const DELIVERERS = `
create table waybell.deliverers (id uuid primary key, seen_at timestamptz not null, actions text[] not null) with (fillfactor = 50);
grant select, insert, delete on waybell.deliverers to waybell_deliverer;
grant update (seen_at) on waybell.deliverers to waybell_deliverer`;

const TRIGGERS = `
drop trigger parked_heads_follow on waybell.subscriptions;
drop trigger parked_heads_follow on waybell.accounts;
drop function waybell.follow_subscription(), waybell.follow_account();

create function waybell.follow_subscription() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update waybell.deliverer_rooms set changes = changes + 1, look_at = case when claimed_by is null then now() else look_at end
  where room = waybell.room_of(old.account_guid, old.callback_url);
  return null;
end $$;
create trigger rooms_follow after update of callback_url, generation, is_active, ended_at on waybell.subscriptions
for each row when ((old.callback_url, old.generation, old.is_active, old.ended_at)
  is distinct from (new.callback_url, new.generation, new.is_active, new.ended_at))
execute function waybell.follow_subscription();

create function waybell.follow_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update waybell.deliverer_rooms set changes = changes + 1, look_at = case when claimed_by is null then now() else look_at end
  where room in (select room from waybell.deliverer_rooms where account = new.guid order by room for no key update);
  return null;
end $$;
create trigger rooms_follow after update of features on waybell.accounts
for each row when (old.features is distinct from new.features) execute function waybell.follow_account();
revoke all on function waybell.follow_subscription(), waybell.follow_account() from public`;

const TARGETS = `
drop view waybell.delivery_targets;
create view waybell.delivery_targets as
select s.guid as subscription_guid, s.generation,
  case when s.ended_at is not null then 'ended' when s.is_active then 'active' else 'deactivated' end as state,
  (waybell.needed_feature(s.interface, s.action) is null
   or waybell.needed_feature(s.interface, s.action) = any (a.features)) as feature_on,
  s.interface, s.action, s.account_guid, s.callback_url, s.verification_token_sealed, s.verification_token_key_id,
  s.failing_since is not null or s.last_success_at is null or s.last_success_at < now() - interval '1 hour'
    as tells_success, s.client_id
from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid;
grant select on waybell.delivery_targets to waybell_deliverer`;

const DROP = `
drop view waybell.kept;
drop table waybell.parked, waybell.parked_heads, waybell.parked_shards, waybell.parked_owners, waybell.parked_sums,
  waybell.open_requests, waybell.kept_publications, waybell.kept_destinations;
drop function if exists waybell.keep_publications, waybell.count_kept_publications, waybell.claim_kept_publications,
  waybell.put_off_kept_publications, waybell.remove_kept_publications, waybell.asking_role;
drop function waybell.endpoint_of(uuid, text), waybell.shard_of(uuid)`;

const TARGETS_BEFORE = TARGETS_OF_PARKED.replace('as tells_success', 'as tells_success, s.client_id');

const REFUSE_IF_ANY_WAITS = `
do $$ begin
  if exists (select from waybell.waiting) then
    raise exception 'something waits, and the tables from before have no place for it: start the services until nothing does';
  end if;
end $$`;

const DROP_ROOMS = `
drop trigger rooms_follow on waybell.subscriptions;
drop trigger rooms_follow on waybell.accounts;
drop function waybell.follow_subscription(), waybell.follow_account();
drop view waybell.delivery_targets, waybell.rooms, waybell.waiting, waybell.waiting_sums;
${SERVICES.map(
  (service) => `drop function waybell.release_${service}_rooms(uuid, uuid[], float8[], float8[]);
drop table waybell.${service}_rooms, waybell.${service}_waiting, waybell.${service}_waiting_sums;`,
).join('\n')}
drop table waybell.deliverers;
drop function waybell.room_of(uuid, text)`;
