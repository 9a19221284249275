import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startServers, type Servers } from '@waybell/stack/servers';
import pg from 'pg';
import { startPgbouncer } from '../testing/pgbouncer.ts';

const log = createLog({ service: 'test', level: 'silent' });

let home: string;
let servers: Servers;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'waybell-pooled-'));
  servers = await startServers({ home, only: ['postgres'], isThrowaway: true });
  await servers.ready('postgres');
});

afterAll(async () => {
  await servers?.stop();
  await rm(home, { recursive: true, force: true });
});

test.each([
  ['as it is shipped', [], 'unsupported startup parameter'],
  [
    'told to ignore what it does not know',
    ['options', 'statement_timeout', 'idle_in_transaction_session_timeout'],
    'a pooler answers for it',
  ],
])(
  'pgbouncer in transaction mode, %s, is refused with the reason, while it takes others',
  async (_how, ignored, why) => {
    await using pooler = await startPgbouncer(servers.url('postgres'), ignored);
    const url = pooler.through(servers.url('postgres'));
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await expect(other.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
    await other.end();
    await using postgres = connectPostgres({ url, role: '', poolSize: 1, timeoutMs: 60_000, log });
    await expect(postgres.query('select')).rejects.toThrow(
      new RegExp(`^Postgres at 127\\.0\\.0\\.1:\\d+, which DATABASE_URL names, is reached through a pooler, .*${why}`),
    );
  },
);
