import { randomBytes } from 'node:crypto';
import { borrowPostgres } from './borrow.ts';
import { until } from './until.ts';
import pg from 'pg';

export type TestDatabase = AsyncDisposable & { url: string; name: string; postgres: pg.Pool };

/**
 * A migrated database of its own: a clone, or empty. Disposing checks for leaks and drops it.
 */
export async function createTestDatabase(options: { isMigrated?: boolean } = {}): Promise<TestDatabase> {
  const name = `waybell_test_${randomBytes(6).toString('hex')}`;
  const { url: lent, template } = await borrowPostgres();
  const on = (database: string) => Object.assign(new URL(lent), { pathname: `/${database}` }).href;
  const cloned = options.isMigrated === false ? 'template1' : template;
  await onServer(on('postgres'), (server) =>
    server.query(`create database ${name} template "${cloned}" strategy file_copy`),
  );
  const url = on(name);
  const postgres = new pg.Pool({ connectionString: url, max: 10 });
  return {
    url,
    name,
    postgres,
    async [Symbol.asyncDispose]() {
      await postgres.end();
      await onServer(on('postgres'), async (server) => {
        try {
          await untilNobodyIsConnected(server, name);
        } finally {
          await server.query(`drop database ${name} with (force)`);
        }
      });
    },
  };
}

async function onServer(url: string, work: (server: pg.Client) => Promise<unknown>): Promise<void> {
  const server = new pg.Client({ connectionString: url });
  await server.connect();
  try {
    await work(server);
  } finally {
    await server.end();
  }
}

/**
 * Looks that are over sooner than an idle connection is closed by its pool: one left open is to be seen. They are counted,
 * because a connection that is closed while the machine stands still is not left open.
 */
const LOOKS = 55;

async function untilNobodyIsConnected(server: pg.Client, name: string): Promise<void> {
  const open = `select application_name, state, query from pg_stat_activity where datname = $1 and backend_type = 'client backend'`;
  let looks = 0;
  await until('no client is connected', async () => {
    const { rows: left } = await server.query(open, [name]);
    looks += 1;
    if (left.length > 0 && looks === LOOKS) throw new Error(`connections were left open: ${JSON.stringify(left)}`);
    return left.length === 0;
  });
}
