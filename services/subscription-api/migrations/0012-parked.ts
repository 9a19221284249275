import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What waits for its endpoint. The deliverers own it; what becomes of a subscription makes its head due. */
export class Parked implements MigrationInterface {
  readonly name = 'Parked1795219200012';

  async up(database: QueryRunner): Promise<void> {
    await database.query(FUNCTIONS);
    await database.query(TABLES);
    await database.query(TRIGGERS);
    await database.query(TARGETS);
    await database.query(GRANTS);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(TARGETS_BEFORE);
    await database.query(`
      drop trigger parked_heads_follow on waybell.subscriptions;
      drop trigger parked_heads_follow on waybell.accounts;
      drop function waybell.follow_subscription(), waybell.follow_account();
      drop table waybell.parked, waybell.parked_heads, waybell.parked_shards, waybell.parked_owners, waybell.parked_sums;
      drop function waybell.endpoint_of(uuid, text), waybell.shard_of(uuid);`);
  }
}

// The deliverer makes the same of an account and a URL (services/deliverer/endpoints/endpoint.ts).
const FUNCTIONS = `
create function waybell.endpoint_of(account uuid, callback_url text) returns bytea
language sql immutable parallel safe
return substring(sha256(convert_to(account::text || ' ' || split_part(callback_url, '?', 1), 'UTF8')) for 16);

-- All that is of one account has one owner, which so can keep its bounds.
create function waybell.shard_of(account uuid) returns int
language sql immutable parallel safe
return get_byte(sha256(uuid_send(account)), 0) % 32;`;

/**
 * Rows are inserted and deleted, never updated but to forget a body: a transaction that stays open for long then costs
 * dead rows behind the cursor of who reads, and nothing else. What can be written often is small and apart.
 */
const TABLES = `
create table waybell.parked (
  subscription uuid not null,
  -- Milliseconds since the epoch, as the delivery has it.
  created_at bigint not null,
  delivery text collate "C" not null,
  attempt int not null,
  hop int not null,
  why text not null check (why in ('full', 'hung', 'blocked')),
  parked_at timestamptz not null default now(),
  not_before timestamptz,
  action text not null,
  note text not null,
  traceparent text,
  -- Null where it was deleted for an erasure request.
  body bytea,
  owed text,
  primary key (subscription, created_at, delivery, attempt, hop)
) with (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);

create table waybell.parked_heads (
  subscription uuid primary key,
  account uuid not null,
  shard int not null,
  -- When its owner is to look at it anew: 'infinity' once it has.
  look_at timestamptz not null default now(),
  is_hung boolean not null default false,
  -- Owners that died since a row of it was deleted last.
  deaths int not null default 0
) with (fillfactor = 70);
create index parked_heads_due on waybell.parked_heads (shard, look_at);

create table waybell.parked_shards (
  shard int primary key,
  owner uuid,
  leased_until timestamptz
) with (fillfactor = 50);
insert into waybell.parked_shards (shard) select generate_series(0, 31);

create table waybell.parked_owners (owner uuid primary key, seen_at timestamptz not null) with (fillfactor = 50);

create table waybell.parked_sums (
  account uuid primary key,
  rows bigint not null,
  bytes bigint not null
) with (fillfactor = 50)`;

const TRIGGERS = `
create function waybell.follow_subscription() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update waybell.parked_heads set look_at = now() where subscription = new.guid;
  return null;
end $$;
create trigger parked_heads_follow after update of callback_url, generation, is_active, ended_at on waybell.subscriptions
for each row when ((old.callback_url, old.generation, old.is_active, old.ended_at)
  is distinct from (new.callback_url, new.generation, new.is_active, new.ended_at))
execute function waybell.follow_subscription();

create function waybell.follow_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update waybell.parked_heads set look_at = now() where subscription in (
    select subscription from waybell.parked_heads where shard = waybell.shard_of(new.guid) and account = new.guid
    order by subscription for no key update);
  return null;
end $$;
create trigger parked_heads_follow after update of features on waybell.accounts
for each row when (old.features is distinct from new.features) execute function waybell.follow_account();

revoke all on function waybell.follow_subscription(), waybell.follow_account(), waybell.endpoint_of(uuid, text),
  waybell.shard_of(uuid) from public`;

/**
 * Adds to the target how its endpoint is, as far as the deliverer that had its parked deliveries last knew; and whether a
 * success would change its health, as settle_deliveries has it.
 */
export const TARGETS = `
create or replace view waybell.delivery_targets as
select s.guid as subscription_guid, s.generation,
  case when s.ended_at is not null then 'ended' when s.is_active then 'active' else 'deactivated' end as state,
  (waybell.needed_feature(s.interface, s.action) is null
   or waybell.needed_feature(s.interface, s.action) = any (a.features)) as feature_on,
  s.interface, s.action, s.account_guid, s.callback_url, s.verification_token_sealed, s.verification_token_key_id,
  coalesce((select h.is_hung from waybell.parked_heads h where h.subscription = s.guid), false) as is_hung,
  s.failing_since is not null or s.last_success_at is null or s.last_success_at < now() - interval '1 hour'
    as tells_success
from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid`;

const TARGETS_BEFORE = `
drop view waybell.delivery_targets;
create view waybell.delivery_targets as
select s.guid as subscription_guid, s.generation,
  case when s.ended_at is not null then 'ended' when s.is_active then 'active' else 'deactivated' end as state,
  (waybell.needed_feature(s.interface, s.action) is null
   or waybell.needed_feature(s.interface, s.action) = any (a.features)) as feature_on,
  s.interface, s.action, s.account_guid, s.callback_url, s.verification_token_sealed, s.verification_token_key_id
from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid;
grant select on waybell.delivery_targets to waybell_deliverer`;

const GRANTS = `
grant execute on function waybell.endpoint_of(uuid, text), waybell.shard_of(uuid) to waybell_deliverer;
grant select, insert, delete on waybell.parked, waybell.parked_owners to waybell_deliverer;
grant update (seen_at) on waybell.parked_owners to waybell_deliverer;
grant select, insert, delete on waybell.parked_heads to waybell_deliverer;
grant update (look_at, is_hung, deaths) on waybell.parked_heads to waybell_deliverer;
grant select on waybell.parked_shards to waybell_deliverer;
grant update (owner, leased_until) on waybell.parked_shards to waybell_deliverer;
grant select, insert, delete on waybell.parked_sums to waybell_deliverer;
grant update (rows, bytes) on waybell.parked_sums to waybell_deliverer`;
