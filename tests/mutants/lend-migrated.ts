import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { serveAnswers, type Lender } from '@waybell/cli/test-run/serve-answers';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';

/** For tests that borrow nothing but a database: lends one with the tables that the migrations of a checkout make now. */
export async function lendMigrated(checkout: string): Promise<Lender> {
  const { url } = await borrowPostgres();
  const name = `migrated-${randomUUID()}`;
  // The one that is lent to all cannot be cloned while a client is connected to it.
  const client = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href });
  await client.connect();
  await client.query(`create database "${name}"`);
  await client.end();
  const migrated = Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const env = { ...process.env, DATABASE_URL: migrated };
  await promisify(execFile)(process.execPath, [join(checkout, 'cli', 'main.ts'), 'migrate'], { cwd: checkout, env });
  return serveAnswers({ postgres: async () => ({ url: migrated }) });
}
