/*
 * Element i of the arrays: which delivery of that subscription and generation ended, when, delivered or exhausted. A failure counts for
 * nothing while its subscription is paused or stopped. Notes the health of each subscription; what is to go off because all attempts of
 * a delivery failed (carrier-webhooks, States and transitions) becomes due, which `switch_off` judges. No rule applies to a listener.
 *
 * A run of failures begins when the first of them is noted here, because until then not every success was told: what
 * succeeds while nothing fails comes here once an hour. In a run every success comes; one that is later than every failure
 * ends it, and an earlier one may move its beginning. So messages may come twice, late and in any order. While a
 * subscription succeeds, `last_success_at` is up to an hour older than its last success, and costs a write an hour.
 */
create or replace function waybell.note_ends(
  subscription_guids uuid[], generations int[], deliveries uuid[], delivered boolean[], ended_at timestamptz[],
  off_on_exhausted text[])
returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  locked uuid[];
begin
  -- An aggregate over nothing makes null, not an empty array.
  if exists (select from unnest(array[cardinality(generations), cardinality(deliveries), cardinality(delivered),
      cardinality(note_ends.ended_at)]) as n
      where coalesce(n, 0) <> coalesce(cardinality(subscription_guids), 0)) then
    raise exception 'the arrays differ in length';
  end if;

  -- In guid order, so that replicas that settle the same subscriptions wait for each other instead of deadlocking.
  select array_agg(guid) into locked from (
    select s.guid from waybell.subscriptions s
    where s.guid = any (subscription_guids) and s.is_active and s.ended_at is null and exists (
      select from unnest(subscription_guids, generations, delivered, note_ends.ended_at)
        as m (guid, generation, delivered, ended_at)
      where m.guid = s.guid and m.generation = s.generation
        and (not m.delivered or s.failing_since is not null or s.last_success_at is null
          or m.ended_at > s.last_success_at + interval '1 hour'))
    order by s.guid for no key update) s;

  -- A statement of its own: it sees what others committed while this one waited for the locks.
  if locked is not null then
    with message as (
      select s.guid, bool_or(not m.delivered) and s.interface = any (off_on_exhausted)
          and not waybell.is_listener(s.client_id) as is_off,
        greatest(s.last_success_at, max(m.ended_at) filter (where m.delivered)) as success_at,
        max(m.ended_at) filter (where not m.delivered) as failed_at,
        (array_agg(m.delivery order by m.ended_at desc, m.delivery desc) filter (where not m.delivered))[1] as failed_delivery
      from unnest(subscription_guids, generations, deliveries, delivered, note_ends.ended_at)
        as m (guid, generation, delivery, delivered, ended_at)
      join waybell.subscriptions s on s.guid = m.guid and s.generation = m.generation
      where s.guid = any (locked) and (m.delivered or not exists (
        select from waybell.delivery_targets t where t.subscription_guid = s.guid and t.held is not null))
      group by s.guid
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
    ), noted as (
      update waybell.subscriptions s
      set last_success_at = h.success_at, last_failure_at = h.failure_at, failing_since = h.failing_since,
        last_failed_delivery = h.last_failed_delivery
      from health h
      where s.guid = h.guid and s.is_active and s.ended_at is null
        and (s.last_success_at, s.last_failure_at, s.failing_since, s.last_failed_delivery)
          is distinct from (h.success_at, h.failure_at, h.failing_since, h.last_failed_delivery)
    ), let_off as (
      delete from waybell.due_deactivations d using health h
      where d.subscription = h.guid and d.held_at is not null and h.success_at > d.ended_at
        and (h.failed_at is null or h.success_at > h.failed_at)
      returning d.subscription
    )
    -- What is due stays as it is; what is held is due anew for what failed since.
    insert into waybell.due_deactivations as d (subscription, generation, rule, delivery, ended_at, due_at)
    select s.guid, s.generation, 'exhausted', h.failed_delivery, h.failed_at, clock_timestamp()
    from health h join waybell.subscriptions s using (guid)
    where h.is_off and s.is_active and s.ended_at is null and s.guid not in (select subscription from let_off)
    order by s.guid
    on conflict (subscription) do update
    set generation = excluded.generation, rule = excluded.rule, delivery = excluded.delivery,
      ended_at = excluded.ended_at, due_at = excluded.due_at, held_at = case when d.generation = excluded.generation then d.held_at end,
      is_released = false
    where d.generation < excluded.generation
      or (d.held_at is not null and not d.is_released and excluded.ended_at > d.ended_at);
  end if;
end $$;

revoke all on function waybell.note_ends(uuid[], int[], uuid[], boolean[], timestamptz[], text[]) from public;
grant execute on function waybell.note_ends(uuid[], int[], uuid[], boolean[], timestamptz[], text[])
  to waybell_deactivator;
