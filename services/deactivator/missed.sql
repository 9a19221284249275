/*
 * Counts what a subscription missed that was off from `off_at` until `until`: events that were not sent to it meanwhile, and from
 * `since` on deliveries that were given up or dropped and not delivered after all; what is still kept, and at most 1,000 of either.
 * The same as the API counts (`services/subscription-api/by-hand/missed.ts`), but for what the delivery log has not yet got.
 */
create or replace function waybell.count_missed(subscription_guid uuid, off_at timestamptz, since timestamptz, until timestamptz)
returns int
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with own as (
    select s.*, s.interface || '.' || s.action as written,
      -- The part as partOf in libs/delivery-log/tables.ts makes it: the first 8 bytes, as a signed number.
      ('x' || encode(substring(sha256(convert_to(
        s.interface || '.' || s.action || ' ' || s.account_guid, 'UTF8')) for 8), 'hex'))::bit(64)::bigint as part
    from waybell.subscriptions s where s.guid = subscription_guid
  )
  select (
    select count(distinct event) from (
      select e.event from own join delivery_log.events e on e.part = own.part and e.account = own.account_guid and e.action = own.written
      where e.at >= off_at and e.at < until and e.place is not null
        and not exists (
          select from delivery_log.events made
          where made.event = e.event and made.account = own.account_guid and subscription_guid = any (made.subscriptions))
        and not exists (
          select from delivery_log.sendings s where s.event = e.event and s.account = own.account_guid
            and s.client = own.client_id and s.published_at is null)
      limit 1000
    ) suppressed
  )::int + (
    select count(*) from (
      select from delivery_log.attempts a
      where a.subscription = subscription_guid and a.kind in ('exhausted', 'dropped') and a.by_hand is distinct from 'test'
        and a.at >= since and a.at < until
        and not exists (
          select from delivery_log.attempts m
          where m.delivery = a.delivery and (m.kind = 'delivered' or (m.attempt, m.at) > (a.attempt, a.at)))
      limit 1000
    ) failed
  )::int
$$;

revoke all on function waybell.count_missed(uuid, timestamptz, timestamptz, timestamptz) from public;
grant execute on function waybell.count_missed(uuid, timestamptz, timestamptz, timestamptz) to waybell_deactivator;
