import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { actions } from '@waybell/catalog/actions';
import { schemaStatements } from '@waybell/delivery-log/schema';
import { raiseSequences, checkSchema, SCHEMA_VERSION } from '@waybell/runtime/reliance';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { createAccount } from './accounts.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/in-order.ts';
import { repeatables } from './repeatables.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';

const numbered = migrations.map((Migration) => new Migration().name);
const names = [...numbered, ...repeatables.map(({ name }) => name)];

describe('migrate', () => {
  test('applies every migration once, however many run at once', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate({ url: store.url, log, waitMs: 4 * PATIENT_MS })));
    expect(runs.flat()).toEqual(names);
    expect(await migrate({ url: store.url, log })).toEqual([]);
  });

  test('tells each in its turn, and nothing where all is done', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    const info = jest.fn();
    const told = { ...log, info } as typeof log;
    await migrate({ url: store.url, log: told });
    const lines = names.flatMap((name) => [
      [{ name }, 'migration.begun'],
      [{ name, seconds: expect.any(Number) }, 'migration.applied'],
    ]);
    expect(info.mock.calls).toEqual(lines);
    info.mockClear();
    await migrate({ url: store.url, log: told });
    expect(info).not.toHaveBeenCalled();
  });

  test('works in several databases of one server at once, although they share the roles', async () => {
    await using stack = new AsyncDisposableStack();
    const stores = await Promise.all([1, 2].map(() => createTestDatabase({ isMigrated: false })));
    for (const store of stores) stack.use(store);
    const runs = await Promise.all(stores.map(({ url }) => migrate({ url, log })));
    expect(runs).toEqual([names, names]);
  });

  test('waits for Postgres to come up, and says clearly where it does not', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    await using proxy = await Detour.to(store.url);
    await proxy.shut();
    await expect(migrate({ url: proxy.url, log, waitMs: 100 })).rejects.toThrow(/cannot be reached.*DATABASE_URL/);
    const waiting = migrate({ url: proxy.url, log });
    await proxy.reopen();
    expect(await waiting).toEqual(names);
  });

  test('says at once that a database does not exist', async () => {
    const { url } = await borrowPostgres();
    await expect(migrate({ url: `${url}x`, log })).rejects.toThrow(
      /has no .*database .* does not exist.*correct DATABASE_URL/,
    );
  });

  test('says at once that a password is wrong', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    await using owner = await plainOwner(store);
    const url = new URL(owner.url);
    url.password = 'wrong';
    await expect(migrate({ url: url.href, log })).rejects.toThrow(/refuses the user .*correct DATABASE_URL/);
  });

  test('needs no superuser, and the user that ran it may read the delivery log', async () => {
    await using store = await createTestDatabase();
    await using owner = await plainOwner(store);
    await store.postgres.query('drop schema waybell, delivery_log cascade');
    expect(await migrate({ url: owner.url, log })).toEqual(names);
    const client = new pg.Client({ connectionString: owner.url });
    await client.connect();
    const { rows } = await client.query('select count(*)::int as made from delivery_log.events');
    await client.end();
    expect(rows).toEqual([{ made: 0 }]);
  });

  test('goes back and forth again', async () => {
    await using store = await createTestDatabase();
    const { describeSource } = await import('./database.ts');
    const source = describeSource({ url: store.url, role: '', poolSize: 1, timeoutMs: PATIENT_MS, log });
    await source.initialize();
    try {
      for (const _ of numbered) await source.undoLastMigration();
    } finally {
      await source.destroy();
    }
    expect(await migrate({ url: store.url, log })).toEqual(names);
  });

  test('runs again what lies beside its rule, once it has changed, and after another version', async () => {
    await using store = await createTestDatabase();
    const rule = 'services/deactivator/note-ends.sql';
    await store.postgres.query(
      `update waybell.repeatables set applied_at = applied_at - interval '1 minute' where name = '${rule}';
       insert into waybell.repeatables values ('${rule}', 'of another version', now());
       drop function waybell.note_ends`,
    );
    expect(await migrate({ url: store.url, log })).toEqual([rule]);
    const { rows } = await store.postgres.query(
      `select has_function_privilege('waybell_deactivator', oid, 'execute') as mayCall from pg_proc where proname = 'note_ends'`,
    );
    expect(rows).toEqual([{ maycall: true }]);
    expect(await migrate({ url: store.url, log })).toEqual([]);
  });

  test('refuses to skip a version, and changes nothing', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    await migrate({ url: store.url, log, release: '0.9.0' });
    await expect(migrate({ url: store.url, log, release: '0.11.0' })).rejects.toThrow(
      'the tables are those of 0.9.0: upgrade to each version between it and 0.11.0 in turn',
    );
    expect(await migrate({ url: store.url, log, release: '0.10.1' })).toEqual([]);
  });

  test('leaves all as it is where a later release has migrated', async () => {
    await using store = await createTestDatabase();
    const made = async () => (await store.postgres.query('select name, hash from waybell.repeatables')).rows;
    await store.postgres.query(`drop function waybell.note_ends; delete from waybell.repeatables where hash <> ''`);
    expect(await migrate({ url: store.url, log, release: '0.10.0' })).toContain('services/deactivator/note-ends.sql');
    const before = await made();
    await store.postgres.query(`update waybell.repeatables set hash = 'later' where name like '%.sql'`);
    expect(await migrate({ url: store.url, log, release: '0.9.1' })).toEqual([]);
    expect(await made()).toHaveLength(before.length);
    expect(await migrate({ url: store.url, log, release: '0.10.0' })).not.toEqual([]);
  });

  test('waits for a lock so that nobody waits behind it, and has it once it is free', async () => {
    await using store = await createTestDatabase();
    await store.postgres.query('drop index delivery_log.events_of_account');
    await forgetTables(store);
    const row = `insert into delivery_log.events (at, event, part, action, keys) values (now(), gen_random_uuid(), 0, 'a', '{}')`;
    await store.postgres.query('create table delivery_log.events_all partition of delivery_log.events default');
    const client = await store.postgres.connect();
    await client.query(`begin; ${row}`);
    const refused = jest.fn();
    const migrating = migrate({ url: store.url, log: { ...log, info: refused } });
    await until('it could not have its lock', () =>
      refused.mock.calls.some(([, message]) => message === 'migration.waiting'),
    );
    await store.postgres.query(row);
    await client.query('commit');
    client.release();
    await migrating;
    expect(await indexesOf(store, 'events_all')).toContain('events_all_of_events_of_account');
  });

  test('makes a new index of the delivery log for each day that is there, and again what was left half-way', async () => {
    await using store = await createTestDatabase();
    const { postgres } = store;
    for (const day of [20, 21]) {
      await postgres.query(`create table delivery_log.attempts_202611${day} partition of delivery_log.attempts
        for values from ('2026-11-${day} 00:00Z') to ('2026-11-${day + 1} 00:00Z')`);
    }
    await postgres.query('drop index delivery_log.attempts_in_vain, delivery_log.attempts_by_time');
    await postgres.query(`create index attempts_20261120_of_attempts_in_vain on delivery_log.attempts_20261120 (at);
      update pg_index set indisvalid = false where indexrelid = 'delivery_log.attempts_20261120_of_attempts_in_vain'::regclass`);
    await forgetTables(store);
    await migrate({ url: store.url, log });
    for (const day of [20, 21]) {
      const name = `attempts_202611${day}`;
      const made = ['in_vain', 'by_time'].map((index) => `${name}_of_attempts_${index}`);
      expect(await indexesOf(store, name)).toEqual(expect.arrayContaining(made));
    }
    const { rows } = await postgres.query(
      `select indisvalid, pg_get_indexdef(indexrelid) like '%(subscription, at)%' as is_anew from pg_index
       where indexrelid in (select inhrelid from pg_inherits where inhparent = 'delivery_log.attempts_in_vain'::regclass)
         or indexrelid = 'delivery_log.attempts_in_vain'::regclass`,
    );
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ indisvalid: true, is_anew: true })));
    expect(await migrate({ url: store.url, log })).toEqual([]);
  });

  test('tells services that their tables are there once all of it is, and a later version leaves them ready', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    const check = () => checkSchema(store.postgres);
    await expect(check()).rejects.toThrow('schema_version');
    await migrate({ url: store.url, log });
    await check();
    await store.postgres.query(`delete from waybell.repeatables where name = 'migrations'`);
    await expect(check()).rejects.toThrow(/migration 0, not of/);
    expect(await migrate({ url: store.url, log })).toEqual(repeatables.map(({ name }) => name));
    await check();
    await store.postgres.query(`
      insert into waybell.migrations (timestamp, name) values (9999999999999, 'Later9999999999999');
      insert into waybell.repeatables values ('migrations', '9999', now()), ('later.sql', 'of a later version', now()),
        ('services/deactivator/note-ends.sql', 'of a later version', now())`);
    await check();
    await using database = openDatabase({ url: store.url, role: '', poolSize: 2, timeoutMs: PATIENT_MS, log });
    await until('it is ready', () => database.waitingFor().length === 0);
  });

  test('has the number that services ask for', () => {
    const [, number] = /(\d\d\d)$/.exec(numbered.at(-1) ?? '') ?? [];
    expect(Number(number)).toBe(SCHEMA_VERSION);
  });

  test('adds to the tables of the delivery log what they lack, and keeps their rows', async () => {
    await using store = await createTestDatabase();
    const { postgres } = store;
    await postgres.query(`create table delivery_log.attempts_20261120 partition of delivery_log.attempts
      for values from ('2026-11-20 00:00Z') to ('2026-11-21 00:00Z')`);
    await postgres.query('alter table delivery_log.attempts drop column tls_ms');
    await postgres.query(`insert into delivery_log.attempts (at, delivery, attempt, kind, event, subscription)
      values ('2026-11-20 09:30Z', gen_random_uuid(), 1, 'failed', gen_random_uuid(), gen_random_uuid())`);
    for (const statement of schemaStatements('waybell_log')) await postgres.query(statement);
    for (const statement of schemaStatements('waybell_log')) await postgres.query(statement);
    const { rows } = await postgres.query('select attempt, tls_ms from delivery_log.attempts');
    expect(rows).toEqual([{ attempt: 1, tls_ms: null }]);
  });
});

/** Marks the tables as made by another version. */
async function forgetTables({ postgres }: TestDatabase): Promise<void> {
  await postgres.query(`delete from waybell.repeatables where name = 'libs/delivery-log/tables.ts'`);
}

async function indexesOf({ postgres }: TestDatabase, table: string): Promise<string[]> {
  const { rows } = await postgres.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index where indrelid = to_regclass($1) and indisvalid`,
    [`delivery_log.${table}`],
  );
  return rows.map(({ name }) => name.replace('delivery_log.', ''));
}

/** A user that owns the database, is a member of the services' roles, and has no other right. */
async function plainOwner({ name, url, postgres }: TestDatabase): Promise<AsyncDisposable & { url: string }> {
  // No role of Waybell by its name: those of the whole server are looked at beside this.
  const user = `owner_of_${name}`;
  const { rows } = await postgres.query<{ role: string }>(
    "select rolname as role from pg_roles where starts_with(rolname, 'waybell_')",
  );
  await postgres.query(`create role ${user} login password 'plain' in role ${rows.map(({ role }) => role).join(', ')}`);
  await postgres.query(`alter database ${name} owner to ${user}`);
  return {
    url: Object.assign(new URL(url), { username: user, password: 'plain' }).href,
    async [Symbol.asyncDispose]() {
      await postgres.query(`alter database ${name} owner to current_user`);
      await postgres.query(`drop owned by ${user} cascade; drop role ${user}`);
    },
  };
}

describe('the views', () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await createTestDatabase();
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
  });

  test('need no feature for an ungated action, whatever features the account has, or none', async () => {
    for (const features of [[], ['insurance'], ['servicepay', 'insurance']]) {
      const { guid } = await createAccount(store.postgres, { interface: 'shipper', features });
      await store.postgres.query(
        `insert into waybell.subscriptions (guid, interface, account_guid, action, callback_url,
           verification_token_sealed, verification_token_key_id)
         select gen_random_uuid(), 'shipper', $1, action, 'https://a.test', '\\x00', 'k'
         from unnest(array['order.created', 'insurance.issued', 'servicepay.updated', 'servicepay_settings.updated']) action`,
        [guid],
      );
      for (const view of ['subscription_targets', 'delivery_targets']) {
        const { rows } = await store.postgres.query(
          `select action from waybell.${view} where account_guid = $1 and feature_on order by action collate "C"`,
          [guid],
        );
        expect(rows.map(({ action }) => action)).toEqual([
          ...(features.includes('insurance') ? ['insurance.issued'] : []),
          'order.created',
          ...(features.includes('servicepay') ? ['servicepay.updated', 'servicepay_settings.updated'] : []),
        ]);
      }
    }
  });

  test('agree with the catalog on which action needs which feature', async () => {
    for (const { interface: interfaceName, name, feature = null } of actions) {
      const { rows } = await store.postgres.query('select waybell.needed_feature($1, $2) as feature', [
        interfaceName,
        name,
      ]);
      expect({ name, feature: rows[0].feature }).toEqual({ name, feature });
    }
  });

  test('show the router what is current and active, and the deliverer everything with its state', async () => {
    const { guid } = await createAccount(store.postgres, { interface: 'shipper', features: ['insurance'] });
    await store.postgres.query(
      `insert into waybell.subscriptions (guid, interface, account_guid, action, callback_url, is_active, ended_at,
         deactivated_at, deactivation_rule, verification_token_sealed, verification_token_key_id)
       select gen_random_uuid(), 'shipper', $1, action, 'https://a.test', active, ended, deactivated,
         case when deactivated is not null then 'window' end, '\\x00', 'k'
       from (values ('order.created', true, null::timestamptz, null::timestamptz), ('order.paid', false, now(), null),
         ('order.removed', false, null, now()), ('insurance.issued', true, null, null),
         ('servicepay.updated', true, null, null)) as v (action, active, ended, deactivated)`,
      [guid],
    );
    const router = await store.postgres.query(
      'select action, feature_on from waybell.subscription_targets where account_guid = $1 order by 1',
      [guid],
    );
    expect(router.rows).toEqual([
      { action: 'insurance.issued', feature_on: true },
      { action: 'order.created', feature_on: true },
      { action: 'servicepay.updated', feature_on: false },
    ]);
    const deliverer = await store.postgres.query(
      'select action, state from waybell.delivery_targets where account_guid = $1 order by 1',
      [guid],
    );
    expect(deliverer.rows).toEqual([
      { action: 'insurance.issued', state: 'active' },
      { action: 'order.created', state: 'active' },
      { action: 'order.paid', state: 'ended' },
      { action: 'order.removed', state: 'deactivated' },
      { action: 'servicepay.updated', state: 'active' },
    ]);
  });
});

describe('sequences that are behind their tables', () => {
  const COMMIT = `insert into delivery_log.commits (number, at, chunk, first_at, last_at)
    values (nextval('delivery_log.commit_numbers'), $1, $2, $1, $1)`;
  const RESET = `select setval('delivery_log.commit_numbers', 1), setval(pg_get_serial_sequence('waybell.audit_log', 'id'), 1)`;

  async function putBehind({ postgres, url }: TestDatabase): Promise<void> {
    await migrate({ url, log });
    await postgres.query(`create table delivery_log.of_today partition of delivery_log.commits
      for values from ('2026-11-30') to ('2026-12-01')`);
    for (const [second, chunk] of [1, 2, 3].entries())
      await postgres.query(COMMIT, [`2026-11-30T01:00:0${second}Z`, chunk]);
    for (const [second, chunk] of [4, 5].entries())
      await postgres.query(COMMIT, [`2026-11-30T01:00:1${second}Z`, chunk]);
    for (const _change of [1, 2, 3]) await createAccount(postgres, { interface: 'shipper' });
    await postgres.query(RESET);
    // After the reset, with numbers that readers are beyond.
    for (const [second, chunk] of [11, 12].entries())
      await postgres.query(COMMIT, [`2026-11-30T01:01:0${second}Z`, chunk]);
  }

  const commits = async ({ postgres }: TestDatabase) =>
    (await postgres.query('select chunk::int from delivery_log.commits order by number')).rows.map(
      ({ chunk }) => chunk,
    );

  test('are raised by migrate, which says so; what the log committed meanwhile comes after what it had', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    await putBehind(store);
    await expect(createAccount(store.postgres, { interface: 'shipper' })).rejects.toThrow('audit_log_pkey');
    expect(await migrate({ url: store.url, log })).toEqual(
      ['delivery_log.commit_numbers', 'waybell.audit_log_id_seq'].map((name) => `${name}, which was behind its table`),
    );
    await createAccount(store.postgres, { interface: 'shipper' });
    expect(await commits(store)).toEqual([1, 2, 3, 4, 5, 11, 12]);
    expect(await migrate({ url: store.url, log })).toEqual([]);
  });

  test('are raised by the delivery log too, by its own rights', async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    await putBehind(store);
    const connection = await store.postgres.connect();
    await connection.query('set session authorization waybell_log');
    const warn = jest.fn();
    for (const _look of [1, 2]) await raiseSequences(connection, { warn });
    connection.release(true);
    expect(warn.mock.calls).toEqual(
      ['delivery_log.commit_numbers', 'waybell.audit_log_id_seq'].map((sequence) => [{ sequence }, 'sequence.raised']),
    );
    expect(await commits(store)).toEqual([1, 2, 3, 4, 5, 11, 12]);
  });

  test('are found of every identity and serial column, whichever there are', async () => {
    await using store = await createTestDatabase();
    const { rows } = await store.postgres.query<{ of: string }>(
      `select c.oid::regclass::text as of from pg_class c where relkind = 'S' and relnamespace::regnamespace::text in ('waybell', 'delivery_log')
         and not exists (select from pg_depend where objid = c.oid and deptype in ('a', 'i') and refobjsubid > 0)`,
    );
    expect(rows).toEqual([]);
  });
});
