import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensureRole } from './0002-grants.ts';

const SIGNATURE = 'waybell.settle_deliveries(uuid[], int[], boolean[], timestamptz[], text[], text[], interval)';

/** What the deactivator may do: this one function. */
export class SettleDeliveries implements MigrationInterface {
  readonly name = 'SettleDeliveries1795219200003';

  async up(database: QueryRunner): Promise<void> {
    await database.query(ensureRole('waybell_deactivator'));
    await database.query(SETTLE_DELIVERIES);
    await database.query(`
      revoke all on function ${SIGNATURE} from public;
      grant usage on schema waybell to waybell_deactivator;
      grant execute on function ${SIGNATURE} to waybell_deactivator;`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`drop function ${SIGNATURE}`);
    await database.query('revoke usage on schema waybell from waybell_deactivator');
  }
}

/**
 * Element i of the arrays: how and when a message for that subscription and generation ended, delivered or exhausted.
 * Returns the subscriptions that this call switched off, each once (carrier-webhooks, States and transitions: all attempts
 * fail; every message of the last 24 hours failed). Empty arrays only sweep.
 *
 * A run of failures begins when the first of them is noted here, because until then not every success was told: what
 * succeeds while nothing fails comes here once an hour. In a run every success comes; one that is later than every failure
 * ends it, and an earlier one may move its beginning. So messages may come twice, late and in any order. While a
 * subscription succeeds, `last_success_at` is up to an hour older than its last success, and costs a write an hour.
 */
const SETTLE_DELIVERIES = `
create function waybell.settle_deliveries(
  subscription_guids uuid[], generations int[], delivered boolean[], ended_at timestamptz[],
  off_on_exhausted text[], off_on_window text[], off_window interval)
returns table (subscription_guid uuid, generation int, interface text, action text, rule text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  locked uuid[];
begin
  -- An aggregate over nothing makes null, not an empty array.
  if exists (select from unnest(array[cardinality(generations), cardinality(delivered),
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
    return query
    with message as (
      select s.guid, bool_or(not m.delivered) and s.interface = any (off_on_exhausted) as is_off,
        greatest(s.last_success_at, max(m.ended_at) filter (where m.delivered)) as success_at,
        greatest(s.last_failure_at, max(m.ended_at) filter (where not m.delivered)) as failure_at
      from unnest(subscription_guids, generations, delivered, settle_deliveries.ended_at)
        as m (guid, generation, delivered, ended_at)
      join waybell.subscriptions s on s.guid = m.guid and s.generation = m.generation
      where s.guid = any (locked) group by s.guid
    ), health as (
      -- Not the beginning of this transaction: it may have waited for the locks.
      select m.*, case when success_at is null or failure_at > success_at
        then greatest(coalesce(s.failing_since, clock_timestamp()), success_at) end as failing_since
      from message m join waybell.subscriptions s using (guid)
    ), settled as (
      update waybell.subscriptions s
      set last_success_at = h.success_at, last_failure_at = h.failure_at, failing_since = h.failing_since,
        is_active = not h.is_off,
        deactivated_at = case when h.is_off then now() end,
        deactivation_rule = case when h.is_off then 'exhausted' end,
        changed_at = case when h.is_off then now() else s.changed_at end
      from health h
      where s.guid = h.guid and s.is_active and s.ended_at is null and (h.is_off
        or (s.last_success_at, s.last_failure_at, s.failing_since)
          is distinct from (h.success_at, h.failure_at, h.failing_since))
      returning s.guid, s.generation, s.interface, s.action, s.deactivation_rule
    )
    select * from settled where deactivation_rule is not null;
  end if;

  -- Whoever holds a lock sweeps after it, or did not change what counts here: no need to wait, no way to deadlock.
  return query
  with due as (
    select s.guid from waybell.subscriptions s
    where s.is_active and s.ended_at is null and s.interface = any (off_on_window)
      and s.failing_since <= now() - off_window and s.last_failure_at > now() - off_window
    for no key update skip locked
  )
  update waybell.subscriptions s
  set is_active = false, deactivated_at = now(), deactivation_rule = 'window', changed_at = now()
  from due where s.guid = due.guid
  returning s.guid, s.generation, s.interface, s.action, 'window';
end $$`;
