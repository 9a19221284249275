-- What the broker did not take: a service keeps, sees and removes its own only, by these functions.

-- In a function that acts as the owner of the tables: on whose behalf, whether it logged in so or took the role on.
create or replace function waybell.asking_role() returns name
language sql stable
return coalesce(nullif(current_setting('role'), 'none')::name, session_user);

-- All who write sums lock them in the order of their names, and so wait for each other and never in a circle.
create or replace function waybell.keep_publications(exchanges text[], routing_keys text[], properties text[], bodies bytea[], delays_ms float8[])
returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  with given as (
    select * from unnest($1, $2, $3, $4, $5) with ordinality as g (exchange, routing_key, properties, body, delay_ms, place)
  ), destination as (
    insert into waybell.kept_destinations as d (kept_by, exchange, routing_key, publications, bytes)
    select waybell.asking_role(), exchange, routing_key, count(*), sum(octet_length(body))
    from given group by exchange, routing_key order by exchange, routing_key
    on conflict (kept_by, exchange, routing_key) do update
      set publications = d.publications + excluded.publications, bytes = d.bytes + excluded.bytes
    returning id, exchange, routing_key
  )
  insert into waybell.kept_publications (destination, properties, body, due_at)
  select d.id, g.properties, g.body, now() + make_interval(secs => g.delay_ms / 1000) from given g join destination d using (exchange, routing_key) order by g.place
$$;

create or replace function waybell.count_kept_publications()
returns table (destination bigint, exchange text, routing_key text, publications bigint, bytes bigint, oldest interval)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select d.id, d.exchange, d.routing_key, d.publications, d.bytes, now() - (
    select p.kept_at from waybell.kept_publications p where p.destination = d.id order by p.id limit 1)
  from waybell.kept_destinations d where d.kept_by = waybell.asking_role() and d.publications > 0 order by d.id
$$;

-- The oldest due of each of these destinations, so many of each at most; together not much more than so many bytes.
create or replace function waybell.claim_kept_publications(destinations bigint[], limits int[], most_bytes bigint, lease interval)
returns table (destination bigint, id bigint, properties text, body bytea)
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  with due as materialized (
    select p.* from unnest($1, $2) as w (destination, most)
    join waybell.kept_destinations d on d.id = w.destination and d.kept_by = waybell.asking_role()
    cross join lateral (
      select k.destination, k.id, octet_length(k.body) as bytes from waybell.kept_publications k
      where k.destination = w.destination and k.due_at <= now() order by k.id limit w.most for update skip locked
    ) p
  ), taken as (
    select * from (select d.destination, d.id, sum(d.bytes) over (order by d.id) - d.bytes as before from due d) b
    where before < $3
  )
  update waybell.kept_publications p set due_at = now() + $4 from taken t
  where p.destination = t.destination and p.id = t.id
  returning p.destination, p.id, p.properties, p.body
$$;

create or replace function waybell.put_off_kept_publications(destinations bigint[], ids bigint[], for_so_long interval)
returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  update waybell.kept_publications p set due_at = now() + $3
  from unnest($1, $2) as g (destination, id)
  join waybell.kept_destinations d on d.id = g.destination and d.kept_by = waybell.asking_role()
  where p.destination = g.destination and p.id = g.id
$$;

create or replace function waybell.remove_kept_publications(destinations bigint[], ids bigint[])
returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  with gone as (
    delete from waybell.kept_publications p
    using unnest($1, $2) as g (destination, id)
    join waybell.kept_destinations d on d.id = g.destination and d.kept_by = waybell.asking_role()
    where p.destination = g.destination and p.id = g.id
    returning p.destination, octet_length(p.body) as bytes
  ), sums as (
    select destination, count(*) as publications, sum(bytes) as bytes from gone group by destination
  ), held as materialized (
    select d.id from waybell.kept_destinations d where d.id in (select destination from sums)
    order by exchange, routing_key for no key update
  )
  update waybell.kept_destinations d set publications = d.publications - s.publications, bytes = d.bytes - s.bytes
  from sums s join held h on h.id = s.destination where d.id = s.destination
$$;

revoke all on function waybell.asking_role(), waybell.keep_publications(text[], text[], text[], bytea[], float8[]),
  waybell.count_kept_publications(),
  waybell.claim_kept_publications(bigint[], int[], bigint, interval),
  waybell.put_off_kept_publications(bigint[], bigint[], interval),
  waybell.remove_kept_publications(bigint[], bigint[]) from public;
grant execute on function waybell.keep_publications(text[], text[], text[], bytea[], float8[]),
  waybell.count_kept_publications(),
  waybell.claim_kept_publications(bigint[], int[], bigint, interval),
  waybell.put_off_kept_publications(bigint[], bigint[], interval),
  waybell.remove_kept_publications(bigint[], bigint[]) to waybell_router, waybell_deliverer;
