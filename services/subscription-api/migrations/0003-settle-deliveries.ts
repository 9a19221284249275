import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensureRole } from './0002-grants.ts';

const SIGNATURE =
  'waybell.settle_deliveries(uuid[], int[], boolean[], timestamptz[], timestamptz[], text[], text[], interval)';

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
 * Element i of the arrays: a message for that subscription and generation that began at its first attempt and ended,
 * delivered or exhausted. Returns the subscriptions that this call switched off, each once (carrier-webhooks, States
 * and transitions: all attempts fail; every message of the last 24 hours failed). Empty arrays only sweep.
 *
 * A run of failures begins with the first attempt of the first message that failed after the last success, and ends
 * with a success later than every failure. So messages may come twice, late and in any order. `last_success_at` is
 * up to a minute old, so that a healthy subscription costs no write per message.
 */
const SETTLE_DELIVERIES = `
create function waybell.settle_deliveries(
  subscription_guids uuid[], generations int[], delivered boolean[], began_at timestamptz[], ended_at timestamptz[],
  off_on_exhausted text[], off_on_window text[], off_window interval)
returns table (subscription_guid uuid, generation int, interface text, action text, rule text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  locked uuid[];
begin
  -- An aggregate over nothing makes null, not an empty array.
  if exists (select from unnest(array[cardinality(generations), cardinality(delivered), cardinality(began_at),
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
          or m.ended_at > s.last_success_at + interval '1 minute'))
    order by s.guid for no key update) s;

  -- A statement of its own: it sees what others committed while this one waited for the locks.
  if locked is not null then
    return query
    with message as (
      select s.guid, s.interface, s.last_success_at, m.delivered, m.began_at, m.ended_at
      from unnest(subscription_guids, generations, delivered, began_at, settle_deliveries.ended_at)
        as m (guid, generation, delivered, began_at, ended_at)
      join waybell.subscriptions s on s.guid = m.guid and s.generation = m.generation
      where m.guid = any (locked)
    ), success as (
      select guid, greatest(last_success_at, max(ended_at) filter (where delivered)) as success_at,
        bool_or(not delivered) and interface = any (off_on_exhausted) as is_off
      from message group by guid, interface, last_success_at
    ), failure as (
      select guid, min(greatest(m.began_at, x.success_at)) as since, max(m.ended_at) as failure_at
      from message m join success x using (guid)
      where not m.delivered and (x.success_at is null or m.ended_at > x.success_at) group by guid
    ), health as (
      select s.guid, x.is_off, x.success_at, greatest(s.last_failure_at, f.failure_at) as failure_at,
        least(f.since, case when s.failing_since is not null and (x.success_at is null or s.last_failure_at > x.success_at)
          then greatest(s.failing_since, x.success_at) end) as failing_since
      from success x join waybell.subscriptions s using (guid) left join failure f using (guid)
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
      and (s.last_success_at is null or s.last_success_at <= s.failing_since)
    for no key update skip locked
  )
  update waybell.subscriptions s
  set is_active = false, deactivated_at = now(), deactivation_rule = 'window', changed_at = now()
  from due where s.guid = due.guid
  returning s.guid, s.generation, s.interface, s.action, 'window';
end $$`;
