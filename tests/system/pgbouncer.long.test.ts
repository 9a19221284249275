import { expect, test } from '@jest/globals';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startServers } from '@waybell/stack/servers';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { shared, sharedFolder } from '@waybell/runtime/testing/shared';
import pg from 'pg';
import { startPgbouncer } from '../testing/pgbouncer.ts';

const home = sharedFolder('pooled');
const servers = shared(() => startServers({ home, only: ['postgres'], isThrowaway: true }));

const connectThrough = (url: string) =>
  connectPostgres({ url, role: 'pg_monitor', poolSize: 3, timeoutMs: 10_000, log });

test.each([
  ['in the order in which they came back last', []],
  ['in turn', ['server_round_robin = 1']],
  ['of a single one', ['default_pool_size = 1']],
])(
  'pgbouncer in transaction mode that hands out its connections %s is refused, while it takes others',
  async (_how, configured) => {
    await using pooler = await startPgbouncer(servers.url('postgres'), ['pool_mode = transaction', ...configured]);
    const url = pooler.through(servers.url('postgres'));
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await expect(other.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
    await other.end();
    await using postgres = connectThrough(url);
    await expect(postgres.query('select')).rejects.toThrow(
      /^Postgres at 127\.0\.0\.1:\d+, which DATABASE_URL names, is reached through a pooler, /,
    );
  },
);

test('pgbouncer in session mode is taken: sessions have their role and limits, and keep what they prepared', async () => {
  await using pooler = await startPgbouncer(servers.url('postgres'), ['pool_mode = session']);
  await using postgres = connectThrough(pooler.through(servers.url('postgres')));
  const asked = `select current_user as role, current_setting('statement_timeout') as limit, $1::int as given`;
  const ask = (given: number) => postgres.query({ name: 'asked', text: asked, values: [given] });
  for (const given of [1, 2, 3])
    expect((await Promise.all([ask(given), ask(given)])).map(({ rows }) => rows)).toEqual(
      Array.from({ length: 2 }, () => [{ role: 'pg_monitor', limit: '10s', given }]),
    );
});
