/*
 * Raises the sequences of identity and serial columns that are behind their tables, as after a restore or a replication that left them out:
 * their next number would be one that is taken. Returns their names. What the delivery log committed meanwhile is numbered again, so that
 * those who read on from a place before get it. `scans`: also of columns without an index, which takes a while.
 */
create or replace function waybell.raise_sequences(scans boolean default false) returns text[]
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  known record;
  highest bigint;
  raised text[] := '{}';
begin
  for known in
    select s.oid::regclass as sequence, d.refobjid::regclass as of_table, a.attname as of_column
    from pg_class s
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.refclassid = 'pg_class'::regclass
      and d.deptype in ('a', 'i')
    join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where s.relkind = 'S' and s.relnamespace in (select oid from pg_namespace where nspname in ('waybell', 'delivery_log'))
      and (scans or exists (select from pg_index i where i.indrelid = d.refobjid and i.indkey[0] = d.refobjsubid))
    order by s.oid::regclass::text
  loop
    execute format('select max(%I) from %s having max(%1$I) > (select last_value - (not is_called)::int from %3$s)',
      known.of_column, known.of_table, known.sequence) into highest;
    continue when highest is null;
    -- Those that number commits, or raise a sequence, do so one after the other: see copies.ts of the delivery log.
    perform pg_advisory_xact_lock(x'77626c63'::int);
    execute format('select setval(%L, highest) from (select max(%I) as highest from %s) m, %1$s where highest > last_value - (not is_called)::int',
      known.sequence, known.of_column, known.of_table) into highest;
    continue when highest is null;
    raised := raised || known.sequence::text;
    if known.sequence::text = 'delivery_log.commit_numbers' then
      update delivery_log.commits c set number = n.number
      from (
        select late.number as earlier, late.at, nextval('delivery_log.commit_numbers') as number from (
          select number, at from delivery_log.commits
          where number < highest and at > (select max(at) from delivery_log.commits where number = highest) order by number, at) late
      ) n
      where c.number = n.earlier and c.at = n.at;
    end if;
  end loop;
  return raised;
end $$;

revoke all on function waybell.raise_sequences(boolean) from public;
grant execute on function waybell.raise_sequences(boolean) to waybell_log;
