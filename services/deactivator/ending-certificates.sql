/*
 * Tells of certificates for TLS client authentication that end within `soon`, or have ended: once of each. One that was replaced is
 * told no more, and the one in its place when its own time comes. Up to 1,000 are told at a time.
 */
create or replace function waybell.tell_ending_certificates(soon interval)
returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  with due as (
    -- One that is being told by another process, or put in anew, is looked at next time.
    select guid from waybell.credentials
    where certificate_ends_at <= now() + soon and ending_told is distinct from certificate_ends_at
    order by certificate_ends_at limit 1000 for update skip locked
  ), told as (
    update waybell.credentials c set ending_told = c.certificate_ends_at from due where c.guid = due.guid returning c.*
  )
  insert into waybell.notices (kind, interface, account, account_name, client, host, ends_at)
  select 'certificate.ending', a.interface, a.guid, a.name, t.client_id, t.host, t.certificate_ends_at
  from told t join waybell.accounts a on a.guid = t.account_guid
  where not waybell.is_listener(t.client_id)
$$;

/* How many there are, by state: valid for longer than `soon`, ending within it, over. A hundred thousand take 20 ms. */
create or replace function waybell.count_certificates(soon interval, out valid int, out ending int, out over int)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select count(*) filter (where certificate_ends_at > now() + soon)::int,
    count(*) filter (where certificate_ends_at > now() and certificate_ends_at <= now() + soon)::int,
    count(*) filter (where certificate_ends_at <= now())::int
  from waybell.credentials where certificate_ends_at is not null
$$;

revoke all on function waybell.tell_ending_certificates(interval), waybell.count_certificates(interval) from public;
grant execute on function waybell.tell_ending_certificates(interval), waybell.count_certificates(interval) to waybell_deactivator;
