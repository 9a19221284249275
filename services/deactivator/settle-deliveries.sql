/*
 * Element i of the arrays: which delivery of that subscription and generation ended, when, delivered or exhausted.
 * Switches subscriptions off by the rules (carrier-webhooks, States and transitions: all attempts fail; every message of the last
 * 24 hours failed), writes each into `deactivations`, from which it is told, and returns how many. Empty arrays only sweep.
 *
 * A run of failures begins when the first of them is noted here, because until then not every success was told: what
 * succeeds while nothing fails comes here once an hour. In a run every success comes; one that is later than every failure
 * ends it, and an earlier one may move its beginning. So messages may come twice, late and in any order. While a
 * subscription succeeds, `last_success_at` is up to an hour older than its last success, and costs a write an hour.
 */
create or replace function waybell.settle_deliveries(
  subscription_guids uuid[], generations int[], deliveries uuid[], delivered boolean[], ended_at timestamptz[],
  off_on_exhausted text[], off_on_window text[], off_window interval)
returns int
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  locked uuid[];
  exhausted int := 0;
  failed_for_long int;
begin
  -- An aggregate over nothing makes null, not an empty array.
  if exists (select from unnest(array[cardinality(generations), cardinality(deliveries), cardinality(delivered),
      cardinality(settle_deliveries.ended_at)]) as n
      where coalesce(n, 0) <> coalesce(cardinality(subscription_guids), 0)) then
    raise exception 'the arrays differ in length';
  end if;

  -- In guid order, so that replicas that settle the same subscriptions wait for each other instead of deadlocking.
  select array_agg(guid) into locked from (
    select s.guid from waybell.subscriptions s
    where s.guid = any (subscription_guids) and s.is_active and s.ended_at is null and exists (
      select from unnest(subscription_guids, generations, delivered, settle_deliveries.ended_at)
        as m (guid, generation, delivered, ended_at)
      where m.guid = s.guid and m.generation = s.generation
        and (not m.delivered or s.failing_since is not null or s.last_success_at is null
          or m.ended_at > s.last_success_at + interval '1 hour'))
    order by s.guid for no key update) s;

  -- A statement of its own: it sees what others committed while this one waited for the locks.
  if locked is not null then
    with message as (
      select s.guid, bool_or(not m.delivered) and s.interface = any (off_on_exhausted) as is_off,
        greatest(s.last_success_at, max(m.ended_at) filter (where m.delivered)) as success_at,
        max(m.ended_at) filter (where not m.delivered) as failed_at,
        (array_agg(m.delivery order by m.ended_at desc, m.delivery desc) filter (where not m.delivered))[1] as failed_delivery
      from unnest(subscription_guids, generations, deliveries, delivered, settle_deliveries.ended_at)
        as m (guid, generation, delivery, delivered, ended_at)
      join waybell.subscriptions s on s.guid = m.guid and s.generation = m.generation
      where s.guid = any (locked) group by s.guid
    ), failure as (
      -- Ordered by time, and then by guid: whichever comes first, the same is the last.
      select m.*, greatest(s.last_failure_at, failed_at) as failure_at,
        case when s.last_failed_delivery is null or failed_at > s.last_failure_at
            or (failed_at = s.last_failure_at and failed_delivery > s.last_failed_delivery)
          then coalesce(failed_delivery, s.last_failed_delivery) else s.last_failed_delivery end as last_failed_delivery
      from message m join waybell.subscriptions s using (guid)
    ), health as (
      -- Not the beginning of this transaction: it may have waited for the locks.
      select f.*, case when success_at is null or failure_at > success_at
        then greatest(coalesce(s.failing_since, clock_timestamp()), success_at) end as failing_since
      from failure f join waybell.subscriptions s using (guid)
    ), settled as (
      update waybell.subscriptions s
      set last_success_at = h.success_at, last_failure_at = h.failure_at, failing_since = h.failing_since,
        last_failed_delivery = h.last_failed_delivery,
        is_active = not h.is_off,
        deactivated_at = case when h.is_off then now() end,
        deactivation_rule = case when h.is_off then 'exhausted' end,
        deactivated_by = case when h.is_off then h.failed_delivery end,
        changed_at = case when h.is_off then now() else s.changed_at end
      from health h
      where s.guid = h.guid and s.is_active and s.ended_at is null and (h.is_off
        or (s.last_success_at, s.last_failure_at, s.failing_since, s.last_failed_delivery)
          is distinct from (h.success_at, h.failure_at, h.failing_since, h.last_failed_delivery))
      returning s.*
    )
    insert into waybell.deactivations (subscription, generation, account, client, interface, action, rule, delivery, at)
    select guid, generation, account_guid, client_id, interface, action, deactivation_rule, deactivated_by, deactivated_at
    from settled where not is_active;
    get diagnostics exhausted = row_count;
  end if;

  -- A session that holds a lock sweeps after it, or did not change what counts here: no need to wait, no way to deadlock.
  with due as (
    select s.guid from waybell.subscriptions s
    where s.is_active and s.ended_at is null and s.interface = any (off_on_window)
      and s.failing_since <= now() - off_window and s.last_failure_at > now() - off_window
    for no key update skip locked
  ), settled as (
    update waybell.subscriptions s
    set is_active = false, deactivated_at = now(), deactivation_rule = 'window', deactivated_by = s.last_failed_delivery,
      changed_at = now()
    from due where s.guid = due.guid
    returning s.*
  )
  insert into waybell.deactivations (subscription, generation, account, client, interface, action, rule, delivery, at)
  select guid, generation, account_guid, client_id, interface, action, deactivation_rule, deactivated_by, deactivated_at
  from settled;
  get diagnostics failed_for_long = row_count;
  return exhausted + failed_for_long;
end $$;

revoke all on function waybell.settle_deliveries(uuid[], int[], uuid[], boolean[], timestamptz[], text[], text[], interval) from public;
grant execute on function waybell.settle_deliveries(uuid[], int[], uuid[], boolean[], timestamptz[], text[], text[], interval)
  to waybell_deactivator;
