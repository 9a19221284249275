/*
 * Element i of the arrays: a delivery of that subscription failed for good, when and why, whether that counts against the
 * subscription or not. The first of a subscription is told at once, those that follow are counted, in one row for each
 * subscription, until `tell_exhausted` tells them together. A delivery whose end comes in two batches is counted twice.
 */
create or replace function waybell.note_exhausted(
  subscription_guids uuid[], deliveries uuid[], ended_at timestamptz[], reasons text[], statuses int[])
returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  with ended as (
    select m.subscription, count(distinct m.delivery)::int as count, min(m.at) as since, max(m.at) as at,
      (array_agg(m.delivery order by m.at desc, m.delivery desc))[1] as delivery,
      (array_agg(m.reason order by m.at desc, m.delivery desc))[1] as reason,
      (array_agg(m.status order by m.at desc, m.delivery desc))[1] as status
    from unnest(subscription_guids, deliveries, ended_at, reasons, statuses) as m (subscription, delivery, at, reason, status)
    join waybell.subscriptions s on s.guid = m.subscription and not waybell.is_listener(s.client_id)
    group by 1
  ), noted as (
    -- In guid order, so that replicas wait for each other instead of deadlocking.
    insert into waybell.exhausted_deliveries as e (subscription, told_at, count, told, since, at, delivery, reason, status)
    select subscription, clock_timestamp(), count, count, since, at, delivery, reason, status from ended order by subscription
    on conflict (subscription) do update
    set count = e.count + excluded.count, since = case when e.count = e.told then excluded.since else least(e.since, excluded.since) end,
      (at, delivery, reason, status) = (select latest.* from (values (e.at, e.delivery, e.reason, e.status),
          (excluded.at, excluded.delivery, excluded.reason, excluded.status)) as latest (at, delivery, reason, status)
        order by latest.at desc, latest.delivery desc limit 1)
    returning e.*
  )
  insert into waybell.notices (kind, interface, account, account_name, client, action, subscription, callback_url, reason, since,
    delivery, status, count)
  select 'delivery.exhausted', s.interface, s.account_guid, a.name, s.client_id, s.action, s.guid,
    split_part(s.callback_url, '?', 1), n.reason, n.since, n.delivery, n.status, n.count
  from noted n join waybell.subscriptions s on s.guid = n.subscription join waybell.accounts a on a.guid = s.account_guid
  where n.count = n.told
$$;

/* Tells together what was counted since a subscription's last notice, once that is older than `every`; forgets where that is nothing. */
create or replace function waybell.tell_exhausted("every" interval)
returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  with due as (
    -- One that is being noted is told next time.
    select subscription from waybell.exhausted_deliveries where told_at <= now() - "every" for update skip locked
  ), over as (
    delete from waybell.exhausted_deliveries e using due where e.subscription = due.subscription and e.count = e.told
  ), told as (
    update waybell.exhausted_deliveries e set told_at = clock_timestamp(), count = 0, told = 0
    from due join waybell.exhausted_deliveries before using (subscription)
    where e.subscription = due.subscription and e.count > e.told
    returning e.*, before.count - before.told as more
  )
  insert into waybell.notices (kind, interface, account, account_name, client, action, subscription, callback_url, reason, since,
    delivery, status, count)
  select 'delivery.exhausted', s.interface, s.account_guid, a.name, s.client_id, s.action, s.guid,
    split_part(s.callback_url, '?', 1), t.reason, t.since, t.delivery, t.status, t.more
  from told t join waybell.subscriptions s on s.guid = t.subscription join waybell.accounts a on a.guid = s.account_guid
$$;

revoke all on function waybell.note_exhausted(uuid[], uuid[], timestamptz[], text[], int[]), waybell.tell_exhausted(interval) from public;
grant execute on function waybell.note_exhausted(uuid[], uuid[], timestamptz[], text[], int[]), waybell.tell_exhausted(interval)
  to waybell_deactivator;
