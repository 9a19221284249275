/*
 * Tells of endpoints at which a delivery has waited for longer than `late`: of each client once when that begins, and again each
 * `every` while it goes on. What waits because its subscription is paused or stopped is not meant, nor a request that is under way.
 *
 * Of a room the first rows are looked at: ten thousand rooms cost a tenth of a second. Of one that is late up to 1,000 rows are
 * counted, and again after `late`, as another client may wait there by then; of up to 1,000 rooms at a time. One process looks at a time.
 */
create or replace function waybell.tell_late_endpoints(late interval, "every" interval)
returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  late_rooms uuid[];
begin
  if not pg_try_advisory_xact_lock('waybell.late_endpoints'::regclass::int8) then return; end if;

  select coalesce(array_agg(r.room), '{}') into late_rooms from waybell.deliverer_rooms r
  cross join lateral (
    -- In their order; one that waits for longer is hardly behind a hundred others that were made before it.
    select from (
      select w.put_at, w.why from waybell.deliverer_waiting w where w.room = r.room order by w.made_at, w.id limit 100
    ) w where w.put_at < now() - late and w.why not in ('paused', 'stopped', 'open') limit 1
  ) first
  where r.name is null and not exists (select from waybell.subscriptions s where s.guid = r.room);

  delete from waybell.late_endpoints k where not exists (select from unnest(late_rooms) as r (room) where r.room = k.room);

  with uncounted as materialized (
    select r.room from unnest(late_rooms) as r (room) where not exists (
      select from waybell.late_endpoints k where k.room = r.room and k.counted_at > now() - late) limit 1000
  ), counted as (
    select c.room, s.client_id as client, count(*)::int as rows, min(w.put_at) as since,
      mode() within group (order by w.why) as why,
      case when count(distinct s.guid) = 1 then (array_agg(s.guid))[1] end as subscription,
      (array_agg(s.guid))[1] as any_subscription
    from uncounted c
    cross join lateral (
      select w.subscription, w.put_at, w.why from waybell.deliverer_waiting w where w.room = c.room
      order by w.made_at, w.id limit 1000
    ) w
    join waybell.subscriptions s on s.guid = w.subscription
    where w.why not in ('paused', 'stopped', 'open') and not waybell.is_listener(s.client_id)
    group by 1, 2
  ), noted as (
    insert into waybell.late_endpoints as k (room, client, told_at, counted_at)
    select room, client, now(), now() from counted where since < now() - late
    on conflict (room, client) do update
    set told_at = case when k.told_at <= now() - "every" then now() else k.told_at end, counted_at = now()
    returning room, client, told_at
  )
  insert into waybell.notices (kind, interface, account, account_name, client, action, subscription, callback_url, reason, since, count)
  select 'endpoint.waiting', s.interface, s.account_guid, a.name, s.client_id,
    case when c.subscription is not null then s.action end, c.subscription, split_part(s.callback_url, '?', 1), c.why, c.since, c.rows
  from noted n join counted c using (room, client) join waybell.subscriptions s on s.guid = c.any_subscription
  join waybell.accounts a on a.guid = s.account_guid
  where n.told_at = now();
end $$;

revoke all on function waybell.tell_late_endpoints(interval, interval) from public;
grant execute on function waybell.tell_late_endpoints(interval, interval) to waybell_deactivator;
