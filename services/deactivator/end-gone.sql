/*
 * Element i of the arrays: the subscription, and the generation of it, whose receiver answered 410 (Gone). Those of these interfaces end,
 * as if their client had ended them; one that is held counts for nothing. Returns those that ended.
 */
create or replace function waybell.end_gone(subscription_guids uuid[], generations int[], interfaces text[])
returns table (subscription uuid, interface text, action text)
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  with gone as materialized (
    -- In the order of note_ends.
    select s.guid from waybell.subscriptions s
    where s.guid = any (subscription_guids) and s.ended_at is null and s.interface = any (interfaces)
      and (s.guid, s.generation) in (select guid, generation from unnest(subscription_guids, generations) as m (guid, generation))
      and not exists (select from waybell.delivery_targets t where t.subscription_guid = s.guid and t.held is not null)
    order by s.guid for no key update
  )
  update waybell.subscriptions s
  set ended_at = now(), is_active = false, changed_at = now(), ended_reason = 'gone'
  from gone where s.guid = gone.guid
  returning s.guid, s.interface, s.action
$$;

revoke all on function waybell.end_gone(uuid[], int[], text[]) from public;
grant execute on function waybell.end_gone(uuid[], int[], text[]) to waybell_deactivator;
