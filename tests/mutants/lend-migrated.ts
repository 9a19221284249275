import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { serveAnswers, type Lender } from '@waybell/cli/test-run/breakable-servers';

/** The tables of a checkout cannot be made. */
export class NotMigrated extends Error {
  override name = 'NotMigrated';
}

const VERBS = ['take', 'give', 'evaluate', 'stop', 'start', 'kill', 'freeze', 'thaw'];
const PASSED_ON = ['vhost', 'control', 'redis', 'note', ...VERBS.map((verb) => `breakable/${verb}`)];

/**
 * Lends what the lender at that address lends, but for the database: one with the tables that the migrations of a checkout make now.
 * Throws NotMigrated.
 */
export async function lendMigrated(checkout: string, lender: string): Promise<Lender> {
  const ask = async (path: string, body: unknown = null): Promise<unknown> => {
    const response = await fetch(`${lender}/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  // The other side's type: see lend-servers.ts.
  const { url } = (await ask('postgres')) as { url: string };
  const name = `migrated-${randomUUID()}`;
  // The one that is lent to all cannot be cloned while a client is connected to it.
  const client = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href });
  await client.connect();
  await client.query(`create database "${name}"`);
  await client.end();
  const migrated = Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const env = { ...process.env, DATABASE_URL: migrated };
  await promisify(execFile)(process.execPath, [join(checkout, 'cli', 'main.ts'), 'migrate'], {
    cwd: checkout,
    env,
  }).catch((error: unknown) => {
    throw new NotMigrated('its tables cannot be made', { cause: error });
  });
  const passedOn = PASSED_ON.map((path) => [path, (body: unknown) => ask(path, body)] as const);
  return serveAnswers({ ...Object.fromEntries(passedOn), postgres: async () => ({ url: migrated, template: name }) });
}
