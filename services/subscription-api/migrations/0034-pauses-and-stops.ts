import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A subscription can be paused by its client and stopped by an operator, and a host can be stopped: what is due meanwhile waits. What a
 * subscription missed while it was off is noted until it is replayed.
 */
export class PausesAndStops implements MigrationInterface {
  readonly name = 'PausesAndStops1795910400034';

  async up(database: QueryRunner): Promise<void> {
    await database.query(COLUMNS);
    await database.query(LISTENERS);
    await database.query(HOSTS);
    await database.query(TARGETS);
    await database.query(FOLLOW);
    await database.query(KEEP_STOP);
    await database.query(NOTED);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
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
grant select on waybell.delivery_targets to waybell_deliverer;

drop trigger rooms_follow on waybell.subscriptions;
create trigger rooms_follow after update of callback_url, generation, is_active, ended_at on waybell.subscriptions
for each row when ((old.callback_url, old.generation, old.is_active, old.ended_at)
  is distinct from (new.callback_url, new.generation, new.is_active, new.ended_at))
execute function waybell.follow_subscription();
create or replace function waybell.follow_subscription() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update waybell.deliverer_rooms set changes = changes + 1, look_at = case when claimed_by is null then now() else look_at end
  where room = waybell.room_of(old.account_guid, old.callback_url);
  return null;
end $$;

delete from waybell.audit_log where account_guid is null or subject_guid is null;
alter table waybell.audit_log alter column account_guid set not null, alter column subject_guid set not null;
drop trigger noted_changed on waybell.subscriptions;
create trigger noted_changed after update on waybell.subscriptions for each row
  when ((old.generation, old.callback_url, old.audit_field_set, old.is_active, old.ended_at)
    is distinct from (new.generation, new.callback_url, new.audit_field_set, new.is_active, new.ended_at))
  execute function waybell.note_change('subscription', 'account_guid', 'generation', 'audit_field_set', 'is_active',
    'ended_at', 'deactivation_rule');

drop trigger stop_kept on waybell.subscriptions;
drop table waybell.stopped_hosts;
drop trigger held_forgets_failures on waybell.subscriptions;
drop function waybell.keep_stop(), waybell.lock_stops(uuid, text), waybell.note_host(), waybell.forget_failures(),
  waybell.follow_host(), waybell.look_through_rooms(uuid[]), waybell.host_of(text), waybell.is_listener(text);
alter table waybell.subscriptions drop column paused_until, drop column stopped_at, drop column stopped_reason,
  drop column ended_reason, drop column missed_since, drop column missed_until, drop column missed_replayed_at`);
  }
}

const COLUMNS = `
alter table waybell.subscriptions
  -- Its client has its deliveries wait until then.
  add column paused_until timestamptz,
  -- An operator has them wait, until an operator starts it again.
  add column stopped_at timestamptz,
  add column stopped_reason text,
  -- Why it ended, where its client did not end it: 'gone'.
  add column ended_reason text,
  -- When it was off, until what it missed is replayed: from its first failed delivery until it was switched on again.
  add column missed_since timestamptz,
  add column missed_until timestamptz,
  -- When all of that was replayed that the delivery log had by then.
  add column missed_replayed_at timestamptz`;

/** Whether a client is a listener, as \`listenerClient\` names it: its subscriptions are nobody's. */
const LISTENERS = `
create function waybell.is_listener(client text) returns boolean
language sql immutable parallel safe
return position(' ' in client) > 0;
revoke all on function waybell.is_listener(text) from public`;

/** Callbacks to these hosts wait, of all accounts. */
const HOSTS = `
create function waybell.host_of(callback_url text) returns text
language sql immutable parallel safe
return lower(substring(callback_url from '^[^/]*//([^/?:]*|\\[[^]]*])([:/?]|$)'));
revoke all on function waybell.host_of(text) from public;
grant execute on function waybell.host_of(text) to waybell_deliverer;

create table waybell.stopped_hosts (
  host text primary key,
  stopped_at timestamptz not null default now(),
  reason text not null
)`;

/**
 * \`held\`: what is due waits in a room of the subscription's own, until \`held_until\`; null: until it is started again. No host is read
 * out of a URL while none is stopped.
 */
const TARGETS = `
create or replace view waybell.delivery_targets as
select s.guid as subscription_guid, s.generation,
  case when s.ended_at is not null then 'ended' when s.is_active then 'active' else 'deactivated' end as state,
  (waybell.needed_feature(s.interface, s.action) is null
   or waybell.needed_feature(s.interface, s.action) = any (a.features)) as feature_on,
  s.interface, s.action, s.account_guid, s.callback_url, s.verification_token_sealed, s.verification_token_key_id,
  s.failing_since is not null or s.last_success_at is null or s.last_success_at < now() - interval '1 hour'
    as tells_success, s.client_id,
  h.held, case h.held when 'paused' then s.paused_until end as held_until, s.ended_reason
from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid
cross join lateral (select case
  when s.ended_at is not null then null
  when s.stopped_at is not null or exists (select from waybell.stopped_hosts)
    and waybell.host_of(s.callback_url) in (select host from waybell.stopped_hosts) then 'stopped'
  when s.is_active and s.paused_until > now() then 'paused' end as held) h;
grant select on waybell.delivery_targets to waybell_deliverer`;

/** Deliveries wait in the room of their endpoint, or in that of their subscription, which has its guid. Rooms are locked in order. */
const FOLLOW = `
create function waybell.look_through_rooms(uuid[]) returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  update waybell.deliverer_rooms set changes = changes + 1, look_at = case when claimed_by is null then now() else look_at end
  where room in (select room from waybell.deliverer_rooms where room = any ($1) order by room for no key update)
$$;
revoke all on function waybell.look_through_rooms(uuid[]) from public;

create or replace function waybell.follow_subscription() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform waybell.look_through_rooms(array[waybell.room_of(old.account_guid, old.callback_url), old.guid]);
  return null;
end $$;
drop trigger rooms_follow on waybell.subscriptions;
create trigger rooms_follow after update of callback_url, generation, is_active, ended_at, paused_until, stopped_at
on waybell.subscriptions for each row
when ((old.callback_url, old.generation, old.is_active, old.ended_at, old.paused_until, old.stopped_at)
  is distinct from (new.callback_url, new.generation, new.is_active, new.ended_at, new.paused_until, new.stopped_at))
execute function waybell.follow_subscription();

-- What is held counts for nothing: a run of failures does not grow old meanwhile.
create function waybell.forget_failures() returns trigger language plpgsql as $$
begin
  new.failing_since := null;
  return new;
end $$;
create trigger held_forgets_failures before update of paused_until, stopped_at on waybell.subscriptions for each row
when (new.is_active and (old.paused_until is distinct from new.paused_until and new.paused_until is not null
  or old.stopped_at is null and new.stopped_at is not null))
execute function waybell.forget_failures();

create function waybell.follow_host() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    update waybell.subscriptions set failing_since = null where guid in (
      select guid from waybell.subscriptions
      where is_active and failing_since is not null and waybell.host_of(callback_url) = new.host
      order by guid for no key update);
  end if;
  perform waybell.look_through_rooms((
    select array_agg(distinct room) from waybell.subscriptions s
    cross join lateral (values (waybell.room_of(s.account_guid, s.callback_url)), (s.guid)) of_it (room)
    where s.ended_at is null and waybell.host_of(s.callback_url) = coalesce(new.host, old.host)
  ));
  return null;
end $$;
create trigger rooms_follow after insert or delete on waybell.stopped_hosts
for each row execute function waybell.follow_host();
revoke all on function waybell.follow_host(), waybell.forget_failures() from public`;

/**
 * A stop outlives its subscription: the next one of the same client and action has it. One at a time begins or is stopped of a client.
 */
const KEEP_STOP = `
create function waybell.lock_stops(account uuid, client text) returns void
language sql volatile
return pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(account::text || ' ' || client, 34));
revoke all on function waybell.lock_stops(uuid, text) from public;

create function waybell.keep_stop() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform waybell.lock_stops(new.account_guid, new.client_id);
  select s.stopped_at, s.stopped_reason into new.stopped_at, new.stopped_reason from waybell.subscriptions s
  where (s.account_guid, s.client_id, s.interface, s.action) = (new.account_guid, new.client_id, new.interface, new.action)
    and s.stopped_at is not null
  order by s.created_at desc limit 1;
  return new;
end $$;
revoke all on function waybell.keep_stop() from public;
create trigger stop_kept before insert on waybell.subscriptions for each row execute function waybell.keep_stop()`;

/** The audit log has pauses and stops; a host has no account. */
const NOTED = `
alter table waybell.audit_log alter column account_guid drop not null, alter column subject_guid drop not null;
drop trigger noted_changed on waybell.subscriptions;
create trigger noted_changed after update on waybell.subscriptions for each row
  when ((old.generation, old.callback_url, old.audit_field_set, old.is_active, old.ended_at, old.paused_until,
      old.stopped_at, old.stopped_reason)
    is distinct from (new.generation, new.callback_url, new.audit_field_set, new.is_active, new.ended_at, new.paused_until,
      new.stopped_at, new.stopped_reason))
  execute function waybell.note_change('subscription', 'account_guid', 'generation', 'audit_field_set', 'is_active',
    'ended_at', 'ended_reason', 'deactivation_rule', 'paused_until', 'stopped_at', 'stopped_reason');

create function waybell.note_host() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  actor jsonb := nullif(current_setting('waybell.actor', true), '')::jsonb;
begin
  insert into waybell.audit_log (who, origin, request_id, what, details)
  select coalesce(actor ->> 'who', 'role ' || nullif(current_setting('role'), 'none'), 'user ' || session_user),
    coalesce(actor ->> 'origin', host(inet_client_addr())), (actor ->> 'requestId')::uuid,
    case tg_op when 'DELETE' then 'host.started' else 'host.stopped' end,
    jsonb_strip_nulls(jsonb_build_object('host', coalesce(new.host, old.host), 'reason', new.reason));
  return null;
end $$;
revoke all on function waybell.note_host() from public;
create trigger noted after insert or update or delete on waybell.stopped_hosts
for each row execute function waybell.note_host()`;
