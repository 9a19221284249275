import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { prepareDatabase } from './prepare.ts';
import { allowLogins, loginsOf } from './service-logins.ts';
import { services } from './services.ts';

const database = `logins_${randomUUID().replaceAll('-', '')}`;
const sources = { postgres: { from: 'binary', path: '' } } as const;
let url: URL;
let owner: pg.Client;

beforeAll(async () => {
  url = new URL((await borrowPostgres()).url);
  owner = new pg.Client({ connectionString: url.href });
  await owner.connect();
  await owner.query(`create database ${database}`);
  url.pathname = `/${database}`;
  await prepareDatabase({ url: url.href });
  await allowLogins({ environment: { DATABASE_URL: url.href }, sources });
});

afterAll(async () => {
  await owner.query(`drop database ${database} with (force)`);
  await owner.end();
});

const addressOf = (name: string): string => {
  const service = services.find((each) => each.name === name);
  if (service === undefined) throw new Error(`no service is called ${name}`);
  const environment = { DATABASE_URL: url.href, AMQP_URL: 'amqp://waybell:secret@127.0.0.1' };
  return loginsOf(service, { environment, sources })['DATABASE_URL'] ?? '';
};

const roles = services.filter(({ databaseRole }) => databaseRole !== undefined).map(({ name }) => name);

async function as<T>(address: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

describe.each(roles)('the login of %s', (name) => {
  test('has a password of its own', async () => {
    const passwords = roles.map((each) => new URL(addressOf(each)).password);
    expect(new Set([...passwords, url.password]).size).toBe(roles.length + 1);
    const other = new URL(addressOf(name));
    other.password = passwords.find((each) => each !== other.password) ?? '';
    await expect(as(other.href, async () => undefined)).rejects.toThrow('password authentication failed');
  });

  test.each([
    'create temporary table mine (a int)',
    'create table public.mine (a int)',
    'create schema mine',
    'select lo_create(0)',
    "select lo_from_bytea(0, 'a')",
  ])('may not %s', async (statement) => {
    await expect(as(addressOf(name), (client) => client.query(statement))).rejects.toThrow('permission denied');
  });
});

test('no other user may connect to the database', async () => {
  const { rows } = await as(url.href, (client) =>
    client.query(`select has_database_privilege('public', current_database(), 'connect, temporary') as may`),
  );
  expect(rows).toEqual([{ may: false }]);
});
