import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The platform is told of subscriptions that go off, come back or end, and of deliveries that fail or wait for long. */
export class Notices implements MigrationInterface {
  readonly name = 'Notices1795996800035';

  async up(database: QueryRunner): Promise<void> {
    await database.query(NOTICES);
    await database.query(TROUBLE);
    await database.query(OF_SUBSCRIPTIONS);
    await database.query(OF_HELD);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      drop trigger noticed on waybell.subscriptions;
      drop trigger noticed on waybell.due_deactivations;
      drop function waybell.notice_subscription(), waybell.notice_held();
      drop table waybell.notices, waybell.exhausted_deliveries, waybell.late_endpoints`);
  }
}

/** What the platform is told: published by the deactivator, and kept for some days. Members of a notice, null where there is none. */
const NOTICES = `
create table waybell.notices (
  guid uuid primary key default gen_random_uuid(),
  kind text not null,
  at timestamptz not null default clock_timestamp(),
  interface text not null,
  account uuid not null,
  account_name text,
  client text not null,
  action text,
  subscription uuid,
  -- Without the query, which may hold secrets.
  callback_url text,
  reason text,
  since timestamptz,
  delivery uuid,
  status int,
  count int,
  missed_since timestamptz,
  missed_until timestamptz,
  missed_count int,
  claimed_until timestamptz,
  published_at timestamptz
);
create index notices_due on waybell.notices (at) where published_at is null;
create index notices_of_client on waybell.notices (account, client, at);
create index notices_by_time on waybell.notices (at);
grant select, delete on waybell.notices to waybell_deactivator;
grant update (claimed_until, published_at, missed_count) on waybell.notices to waybell_deactivator`;

/** Trouble that is told of once an hour. What is done with it stands beside its rules, in \`services/deactivator\`. */
const TROUBLE = `
create table waybell.exhausted_deliveries (
  subscription uuid primary key,
  -- When its last notice was written.
  told_at timestamptz not null,
  -- Ends since then and with it; \`told\`: how many of them the notice told.
  count int not null,
  told int not null,
  -- The first and the last end since then, by the clock of the deliverer.
  since timestamptz not null,
  at timestamptz not null,
  delivery uuid not null,
  reason text,
  status int
) with (fillfactor = 50);

create table waybell.late_endpoints (
  room uuid not null,
  client text not null,
  told_at timestamptz not null,
  -- When its rows were last counted.
  counted_at timestamptz not null,
  primary key (room, client)
) with (fillfactor = 50)`;

/** Off, on again or ended, in the transaction that does it; of a listener nobody is told. An API raises the generation, and what is held back keeps it. */
const OF_SUBSCRIPTIONS = `
create function waybell.notice_subscription() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into waybell.notices (kind, interface, account, account_name, client, action, subscription, callback_url, reason, since,
    delivery, missed_since, missed_until, missed_count)
  select 'subscription.' || k.kind, new.interface, new.account_guid, a.name, new.client_id, new.action, new.guid,
    split_part(new.callback_url, '?', 1),
    case k.kind when 'ended' then coalesce(new.ended_reason, 'unsubscribed')
      when 'switched_off' then new.deactivation_rule
      else case when new.generation = old.generation then 'held_back' else 'switched_on' end end,
    case k.kind when 'ended' then null when 'switched_off' then new.failing_since else old.deactivated_at end,
    case k.kind when 'switched_off' then new.deactivated_by when 'switched_on' then old.deactivated_by end,
    case when k.kind = 'switched_off' then greatest(least(new.failing_since, new.deactivated_at) - interval '1 minute', new.created_at)
      when k.kind = 'switched_on' and new.missed_replayed_at is null and new.missed_since is not null
        then greatest(new.missed_since, new.created_at) end,
    case when k.kind = 'switched_on' and new.missed_replayed_at is null then least(new.missed_until, now()) end,
    case k.kind when 'switched_off' then 0 end
  from waybell.accounts a cross join lateral (select case when new.ended_at is not null then 'ended'
    when new.is_active then 'switched_on' else 'switched_off' end as kind) k
  where a.guid = new.account_guid;
  return null;
end $$;
revoke all on function waybell.notice_subscription() from public;
create trigger noticed after update of is_active, ended_at on waybell.subscriptions for each row
  when ((old.is_active, old.ended_at) is distinct from (new.is_active, new.ended_at) and not waybell.is_listener(new.client_id))
  execute function waybell.notice_subscription()`;

/** Held, as so many would have gone off at once: from when on it is, and not again while it is. */
const OF_HELD = `
create function waybell.notice_held() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into waybell.notices (kind, interface, account, account_name, client, action, subscription, callback_url, reason, since,
    delivery)
  select 'subscription.held', s.interface, s.account_guid, a.name, s.client_id, s.action, s.guid,
    split_part(s.callback_url, '?', 1), new.rule, s.failing_since, new.delivery
  from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid
  where s.guid = new.subscription;
  return null;
end $$;
revoke all on function waybell.notice_held() from public;
create trigger noticed after update of held_at on waybell.due_deactivations for each row
  when (old.held_at is null and new.held_at is not null) execute function waybell.notice_held()`;
