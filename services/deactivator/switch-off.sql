/*
 * Switches off what is due, unless so many are that the fault is likely to be ours: a resolver, a clock, a bad release. Of the
 * subscriptions that had deliveries in the last five minutes: where in one minute more than a tenth, at least `surge_many`, of at
 * least a quarter as many hosts, or more than half, of at least `surge_few` hosts, would go off, none of them does. They are held, those
 * that went off within that minute among them. One that is held goes off when a delivery fails after the surge, is let off when one
 * succeeds, or as an operator says. 0 sets a limit off; subscriptions to which no rule applies are not counted.
 *
 * What is due waits for `gather` first, so that those that become due together are seen together. Called again and again: a run of
 * failures grows old by itself. Each that goes off is written into `deactivations`, from which it is told. `off`: how many
 * did. `held`: how many are held now.
 */
create or replace function waybell.switch_off(
  off_on_exhausted text[], off_on_window text[], off_window interval, gather interval, surge_many int, surge_few int,
  out "off" int, out held int)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  present timestamptz;
  many int;
  hosts int;
  least int;
  had_any int;
begin
  -- One judges at a time, and sees what those before it did.
  perform pg_advisory_xact_lock('waybell.due_deactivations'::regclass::int8);

  -- Every message of the window failed (carrier-webhooks, States and transitions). What is held is due anew for what failed since.
  insert into waybell.due_deactivations as d (subscription, generation, rule, delivery, ended_at, due_at)
  select s.guid, s.generation, 'window', s.last_failed_delivery, s.last_failure_at, clock_timestamp()
  from waybell.subscriptions s
  where s.is_active and s.ended_at is null and s.interface = any (off_on_window) and not waybell.is_listener(s.client_id)
    and s.failing_since <= now() - off_window and s.last_failure_at > now() - off_window
  order by s.guid
  on conflict (subscription) do update
  set generation = excluded.generation, rule = excluded.rule, delivery = excluded.delivery, ended_at = excluded.ended_at,
    due_at = excluded.due_at, held_at = case when d.generation = excluded.generation then d.held_at end, is_released = false
  where d.generation < excluded.generation
    or (d.held_at is not null and not d.is_released and excluded.ended_at > d.ended_at);

  "off" := 0;
  if exists (select from waybell.due_deactivations) then
    present := clock_timestamp();
    -- What an operator had switched off is known as that for a minute: no surge has it back.
    delete from waybell.due_deactivations d where not (d.is_released and d.due_at > present - interval '1 minute') and not exists (
      select from waybell.subscriptions s
      where s.guid = d.subscription and s.generation = d.generation and s.is_active and s.ended_at is null);

    select count(*), count(distinct waybell.host_of(callback_url)) into many, hosts from (
      select s.callback_url from waybell.due_deactivations d join waybell.subscriptions s on s.guid = d.subscription
      where not d.is_released and d.due_at > present - interval '1 minute'
      union all
      select callback_url from waybell.subscriptions
      where not is_active and ended_at is null and deactivated_at > present - interval '1 minute' and deactivation_rule is not null
        and guid not in (select subscription from waybell.due_deactivations)
    ) would_go;
    if surge_many > 0 and many >= surge_many and 4 * hosts >= surge_many then
      least := 10 * many;
    elsif surge_few > 0 and hosts >= surge_few then
      least := 2 * many;
    end if;

    if least is not null then
      -- Whether fewer than that had any: how many exactly is of no consequence.
      select count(*) into had_any from (
        select from (
          -- The part as partOf in libs/delivery-log/tables.ts makes it: the first 8 bytes, as a signed number.
          select guid, last_success_at, last_failure_at, ('x' || encode(substring(
              sha256(convert_to(interface || '.' || action || ' ' || account_guid, 'UTF8')) for 8), 'hex'))::bit(64)::bigint as part
          from waybell.subscriptions
          where ended_at is null and interface = any (off_on_exhausted || off_on_window)
            and not waybell.is_listener(client_id) limit 100000
        ) s
        where greatest(s.last_success_at, s.last_failure_at) > present - interval '5 minutes' or exists (
          select from delivery_log.events l
          where l.part = s.part and l.at > present - interval '5 minutes' and s.guid = any (l.subscriptions))
        limit least) s;
    end if;

    if had_any < least then
      with gone as (
        select guid, deactivated_at, deactivation_rule, deactivated_by from waybell.subscriptions
        where not is_active and ended_at is null and deactivated_at > present - interval '1 minute'
          and deactivation_rule is not null and guid not in (select subscription from waybell.due_deactivations)
        order by guid for no key update
      ), back as (
        update waybell.subscriptions s
        set is_active = true, deactivated_at = null, deactivation_rule = null, deactivated_by = null, changed_at = present
        from gone where s.guid = gone.guid
        returning s.guid, s.generation, gone.deactivated_at, gone.deactivation_rule, gone.deactivated_by, s.last_failure_at
      ), untold as (
        delete from waybell.deactivations t using back where t.subscription = back.guid and t.generation = back.generation
      )
      insert into waybell.due_deactivations (subscription, generation, rule, delivery, ended_at, due_at, off_from)
      select guid, generation, deactivation_rule, deactivated_by, last_failure_at, present, deactivated_at from back
      on conflict do nothing;
      -- In the order of note_ends.
      perform from waybell.due_deactivations where not is_released and due_at > present - interval '1 minute'
      order by subscription for no key update;
      update waybell.due_deactivations set held_at = coalesce(held_at, present), surge_at = present
      where not is_released and due_at > present - interval '1 minute';
    end if;

    -- One that is being settled goes off at the next call: no need to wait, no way to deadlock.
    with due as (
      select d.subscription, d.rule, d.delivery
      from waybell.due_deactivations d join waybell.subscriptions s on s.guid = d.subscription
      where s.is_active and s.ended_at is null and s.generation = d.generation
        and (d.is_released or (d.due_at <= present - gather and (d.held_at is null or d.due_at > d.surge_at)))
      for no key update of s skip locked
    ), switched as (
      update waybell.subscriptions s
      set is_active = false, deactivated_at = present, deactivation_rule = due.rule, deactivated_by = due.delivery,
        changed_at = present
      from due where s.guid = due.subscription
      returning s.*
    ), known as (
      update waybell.due_deactivations d set due_at = present from switched where d.subscription = switched.guid and d.is_released
    ), judged as (
      delete from waybell.due_deactivations d using switched where d.subscription = switched.guid and not d.is_released
    )
    insert into waybell.deactivations (subscription, generation, account, client, interface, action, rule, delivery, at)
    select guid, generation, account_guid, client_id, interface, action, deactivation_rule, deactivated_by, deactivated_at
    from switched;
    get diagnostics "off" = row_count;
  end if;
  select count(*) into held from waybell.due_deactivations where held_at is not null and not is_released;
end $$;

revoke all on function waybell.switch_off(text[], text[], interval, interval, int, int) from public;
grant execute on function waybell.switch_off(text[], text[], interval, interval, int, int) to waybell_deactivator;
