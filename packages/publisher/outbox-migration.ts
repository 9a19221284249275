/**
 * SQL that creates the outbox, or leaves it as it is, in the first schema of the search path: the table `waybell_outbox`,
 * and the function `waybell_publish(event text)`, which puts an event into it and returns its guid: into that of its own
 * schema, whatever the caller's search path. It is in the package as `outbox.sql`, too. As text, because `jsonb` would change the digits of numbers.
 *
 * The function wakes a relay only where one sleeps: a notification takes a lock that all commits share. A relay that
 * sleeps holds an advisory lock, so that the function, which shares it until the end of its transaction, cannot get it;
 * and no relay can fall asleep while a transaction that did get it is open.
 */
export const outboxMigration: string = `
select pg_advisory_xact_lock(2002876770);

create table if not exists waybell_outbox (
  id bigint generated always as identity primary key,
  guid text not null
    constraint waybell_outbox_guid_is_a_uuid
    check (guid ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'),
  routing_key text not null
    constraint waybell_outbox_interface_and_action_are_short check (octet_length(routing_key) <= 255),
  event text not null
    constraint waybell_outbox_event_is_at_most_1_mib check (octet_length(event) <= 1048576),
  created_at timestamptz not null default clock_timestamp(),
  -- Why the broker never takes it; null while it waits.
  failed text
) with (
  -- Rows live for milliseconds: what they leave is to be cleaned up by number, whatever the size of the table.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0,
  -- To give space back it would lock out everybody for a moment, and need the space again.
  vacuum_truncate = false
);

do $migration$
begin
  execute format($create$
create or replace function %1$I.waybell_publish(event text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $publish$
declare
  named json := event::json;
  published text := named ->> 'guid';
  missing text := concat_ws(', ',
    case when named ->> 'guid' is null then 'guid' end,
    case when named ->> 'interface' is null then 'interface' end,
    case when named ->> 'action' is null then 'action' end);
begin
  if missing <> '' then
    raise exception 'the event lacks %%', missing using errcode = 'check_violation';
  end if;
  insert into %1$I.waybell_outbox (guid, routing_key, event)
  values (published, (named ->> 'interface') || '.' || (named ->> 'action'), event);
  if not pg_try_advisory_xact_lock_shared((2002876770::bigint << 32) + %2$L::regclass::oid::bigint) then
    perform pg_notify('waybell_outbox', '');
  end if;
  return published;
end
$publish$
$create$, current_schema(), format('%I.waybell_outbox', current_schema()));
end
$migration$;
`;

export const outboxChannel = 'waybell_outbox';
