import type { MigrationInterface, QueryRunner } from 'typeorm';

const SIGNATURES = {
  keep: 'waybell.keep_publications(text[], text[], text[], bytea[], float8[])',
  count: 'waybell.count_kept_publications()',
  claim: 'waybell.claim_kept_publications(bigint[], int[], bigint, interval)',
  putOff: 'waybell.put_off_kept_publications(bigint[], bigint[], interval)',
  remove: 'waybell.remove_kept_publications(bigint[], bigint[])',
};

/** What the broker did not take. A service keeps, sees and removes its own only, by these functions. */
export class KeptPublications implements MigrationInterface {
  readonly name = 'KeptPublications1795219200014';

  async up(database: QueryRunner): Promise<void> {
    for (const statement of [TABLES, ASKING_ROLE, KEEP, COUNT, CLAIM, PUT_OFF, REMOVE]) await database.query(statement);
    const functions = Object.values(SIGNATURES).join(', ');
    await database.query(`
      revoke all on function waybell.asking_role(), ${functions} from public;
      grant execute on function ${functions} to waybell_router, waybell_deliverer`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      drop function ${Object.values(SIGNATURES).join(', ')};
      drop view waybell.kept;
      drop table waybell.kept_publications, waybell.kept_destinations;
      drop function waybell.asking_role()`);
  }
}

/**
 * Destinations have their sums, so that nobody need count rows. They stay: there are a few for each action.
 * `properties` is JSON, not looked into here: what strangers wrote may be no text for Postgres, such as a NUL.
 */
const TABLES = `
create table waybell.kept_destinations (
  id bigint generated always as identity primary key,
  kept_by name not null,
  exchange text not null,
  routing_key text not null,
  publications bigint not null,
  bytes bigint not null,
  unique (kept_by, exchange, routing_key)
) with (fillfactor = 50);

create table waybell.kept_publications (
  destination bigint not null references waybell.kept_destinations,
  id bigint generated always as identity,
  properties text not null,
  body bytea not null,
  kept_at timestamptz not null default now(),
  -- Later while a process has it under way. What is due and still here is to be sent.
  due_at timestamptz not null default now(),
  primary key (destination, id)
) with (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);

create view waybell.kept as
select d.kept_by, d.exchange, d.routing_key, d.publications, d.bytes,
  (select p.kept_at from waybell.kept_publications p where p.destination = d.id order by p.id limit 1) as oldest_at
from waybell.kept_destinations d where d.publications > 0`;

/** In a function that acts as the owner of the tables: on whose behalf, whether it logged in so or took the role on. */
const ASKING_ROLE = `
create function waybell.asking_role() returns name
language sql stable
return coalesce(nullif(current_setting('role'), 'none')::name, session_user)`;

// All who write sums lock them in the order of their names, and so wait for each other and never in a circle.
const KEEP = `
create function waybell.keep_publications(exchanges text[], routing_keys text[], properties text[], bodies bytea[], delays_ms float8[])
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
$$`;

const COUNT = `
create function waybell.count_kept_publications()
returns table (destination bigint, exchange text, routing_key text, publications bigint, bytes bigint, oldest interval)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select d.id, d.exchange, d.routing_key, d.publications, d.bytes, now() - (
    select p.kept_at from waybell.kept_publications p where p.destination = d.id order by p.id limit 1)
  from waybell.kept_destinations d where d.kept_by = waybell.asking_role() and d.publications > 0 order by d.id
$$`;

/** The oldest due of each of these destinations, so many of each at most; together not much more than so many bytes. */
const CLAIM = `
create function waybell.claim_kept_publications(destinations bigint[], limits int[], most_bytes bigint, lease interval)
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
$$`;

const PUT_OFF = `
create function waybell.put_off_kept_publications(destinations bigint[], ids bigint[], for_so_long interval)
returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  update waybell.kept_publications p set due_at = now() + $3
  from unnest($1, $2) as g (destination, id)
  join waybell.kept_destinations d on d.id = g.destination and d.kept_by = waybell.asking_role()
  where p.destination = g.destination and p.id = g.id
$$`;

const REMOVE = `
create function waybell.remove_kept_publications(destinations bigint[], ids bigint[])
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
$$`;
