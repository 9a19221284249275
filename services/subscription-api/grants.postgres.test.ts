import { describe, expect, test } from '@jest/globals';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { shared } from '@waybell/runtime/testing/shared';

/** Rights of a service with a waiting room. */
const waitingOf = (service: string) => ({
  [`${service}_rooms`]:
    'DELETE, INSERT, SELECT, UPDATE (changes, claimed_by, deaths, look_at, over_before, shut_since)',
  [`${service}_waiting`]: 'DELETE, INSERT, SELECT, UPDATE (due_at, no, why)',
  [`${service}_waiting_sums`]: 'DELETE, INSERT, SELECT, UPDATE (bytes, rows)',
  [`release_${service}_rooms()`]: 'EXECUTE',
  [`${service}_outbox`]: 'DELETE, INSERT, SELECT, UPDATE (due_at, refused_at)',
});

/** Every service reads the version of the tables. */
const ANY = { 'schema waybell': 'USAGE', schema_version: 'SELECT' };

/** Rights of each role, and of public, in schema waybell: nothing else is granted. */
const GRANTS: Record<string, Record<string, string>> = {
  public: {},
  waybell_router: {
    ...ANY,
    known_accounts: 'SELECT',
    subscription_targets: 'SELECT',
    'needed_feature()': 'EXECUTE',
    ...waitingOf('router'),
  },
  waybell_deliverer: {
    ...ANY,
    delivery_targets: 'SELECT',
    valid_signing_secrets: 'SELECT',
    'needed_feature()': 'EXECUTE',
    'host_of()': 'EXECUTE',
    'authority_of()': 'EXECUTE',
    credentials: 'SELECT (guid, key_id, sealed)',
    deliverers: 'DELETE, INSERT, SELECT, UPDATE (seen_at)',
    ...waitingOf('deliverer'),
  },
  waybell_deactivator: {
    ...ANY,
    'note_ends()': 'EXECUTE',
    'end_gone()': 'EXECUTE',
    'switch_off()': 'EXECUTE',
    deactivations: 'DELETE, SELECT, UPDATE (claimed_until)',
    'note_exhausted()': 'EXECUTE',
    'tell_exhausted()': 'EXECUTE',
    'tell_late_endpoints()': 'EXECUTE',
    'tell_ending_certificates()': 'EXECUTE',
    'count_certificates()': 'EXECUTE',
    'count_missed()': 'EXECUTE',
    notices: 'DELETE, SELECT, UPDATE (claimed_until, missed_count, published_at)',
  },
  waybell_tracker: {
    ...ANY,
    tracked_vehicles: 'DELETE, INSERT, SELECT, UPDATE (activated_by, is_active, last_seen_at)',
    gps_deactivations: 'DELETE, INSERT, SELECT, UPDATE (claimed_until)',
  },
  waybell_log: { ...ANY, 'raise_sequences()': 'EXECUTE' },
};

/** Everything there is, times every role of Waybell, times every privilege that it could have: what Postgres allows. */
const ALLOWED = `
  with role as (
    select 'public' as role union all select rolname from pg_roles where starts_with(rolname, 'waybell_')
  ), relation as (
    select c.oid, c.relname as name, c.relkind = 'S' as is_sequence from pg_class c
    where c.relnamespace = 'waybell'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  ), allowed as (
    select role, 'database' as object, 'CREATE' as privilege
    from role where has_database_privilege(role, current_database(), 'CREATE')
    union all
    select role, 'schema waybell', privilege from role, unnest(array['USAGE', 'CREATE']) privilege
    where has_schema_privilege(role, 'waybell', privilege)
    union all
    select role, name || '()', 'EXECUTE'
    from role, (select oid, proname as name from pg_proc where pronamespace = 'waybell'::regnamespace) f
    where has_function_privilege(role, f.oid, 'EXECUTE')
    union all
    select role, name, privilege from role, relation, unnest(array['USAGE', 'SELECT', 'UPDATE']) privilege
    where is_sequence and has_sequence_privilege(role, oid, privilege)
    union all
    select role, name, privilege from role, relation,
      unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) privilege
    where not is_sequence and has_table_privilege(role, oid, privilege)
    union all
    select role, name, privilege || ' (' || string_agg(attname, ', ' order by attname) || ')'
    from role, relation join pg_attribute on attrelid = oid and attnum > 0 and not attisdropped,
      unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) privilege
    where not is_sequence and has_column_privilege(role, oid, attnum, privilege) and not has_table_privilege(role, oid, privilege)
    group by role, name, privilege
  ), listed as (
    select role, object, string_agg(privilege, ', ' order by privilege collate "C") as privileges
    from allowed group by role, object
  )
  select role, coalesce(jsonb_object_agg(object, privileges) filter (where object is not null), '{}') as grants
  from role left join listed using (role) group by role`;

const store = shared(() => createTestDatabase());

describe('the roles', () => {
  test('may do what their services do, and nothing else; public may do nothing', async () => {
    const { rows } = await store.postgres.query<{ role: string; grants: object }>(ALLOWED);
    expect(Object.fromEntries(rows.map(({ role, grants }) => [role, grants]))).toEqual(GRANTS);
  });

  test.each([
    ['waybell_router', 'select from waybell.subscriptions'],
    ['waybell_router', 'update waybell.subscription_targets set generation = 1'],
    ['waybell_deliverer', 'select hash from waybell.access_tokens'],
    ['waybell_deliverer', 'select sealed from waybell.signing_secrets'],
    ['waybell_deliverer', 'update waybell.deliverer_waiting set body = null'],
    ['waybell_deliverer', 'select from waybell.router_outbox'],
    ['waybell_router', 'update waybell.router_outbox set body = null'],
    ['waybell_router', 'delete from waybell.deliverer_rooms'],
    ['waybell_router', "select waybell.release_deliverer_rooms(null, '{}', '{}', '{}')"],
    ['waybell_deliverer', 'select from waybell.waiting'],
    ['waybell_deactivator', 'select from waybell.subscriptions'],
    ['waybell_deactivator', 'delete from waybell.audit_log'],
    ['waybell_deactivator', "update waybell.deactivations set rule = 'none'"],
    ['waybell_tracker', 'update waybell.tracked_vehicles set shipper_guid = vehicle_guid'],
    ['waybell_log', 'select from waybell.subscriptions'],
    ['waybell_tracker', 'create table waybell.mine ()'],
    ['waybell_tracker', 'set role waybell_deliverer; select from waybell.delivery_targets'],
  ])('that is %s is refused "%s"', async (role, statement) => {
    const connection = await store.postgres.connect();
    try {
      // Logs in as that user: the user of the tests could take on any role again.
      await connection.query(`set session authorization ${role}`);
      await expect(connection.query(statement)).rejects.toThrow(/permission denied|cannot update view/);
    } finally {
      connection.release(true);
    }
  });

  test('leave the schema of the delivery log to the one that owns it', async () => {
    const { rows } = await store.postgres.query<{ role: string }>(
      `select rolname as role from pg_roles
       where starts_with(rolname, 'waybell_') and has_schema_privilege(oid, 'delivery_log', 'USAGE')`,
    );
    expect(rows).toEqual([{ role: 'waybell_log' }]);
  });

  test('are members of nothing, and have no members: no role leads to another', async () => {
    const { rows } = await store.postgres.query(
      `select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.member where starts_with(r.rolname, 'waybell_')`,
    );
    expect(rows).toEqual([]);
  });
});

describe('functions that act as the owner of the tables', () => {
  test('look only where their caller cannot put anything', async () => {
    const { rows } = await store.postgres.query(
      `select proname as name, proconfig as settings from pg_proc
       where pronamespace = 'waybell'::regnamespace and prosecdef order by name`,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'count_certificates',
      'count_missed',
      'end_gone',
      'follow_account',
      'follow_host',
      'follow_subscription',
      'keep_stop',
      'look_through_rooms',
      'note_change',
      'note_ends',
      'note_exhausted',
      'note_host',
      'notice_held',
      'notice_subscription',
      'raise_sequences',
      'require_open_account',
      'switch_off',
      'tell_ending_certificates',
      'tell_exhausted',
      'tell_late_endpoints',
    ]);
    for (const { settings } of rows) expect(settings).toEqual(['search_path=pg_catalog, pg_temp']);
  });
});
