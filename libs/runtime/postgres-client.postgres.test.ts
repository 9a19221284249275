import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { connectPostgres, copyAll, isOutage, type Postgres } from './postgres.ts';
import { borrowPostgres } from './testing/borrow.ts';
import { until } from './testing/until.ts';
import { silentLog as log } from './testing/patience.ts';

let shared: Promise<{ url: string }> | undefined;
const borrowed = () => (shared ??= borrowPostgres());
/** Nothing listens there. */
const CLOSED = '127.0.0.1:1';

/** The server that tests share, reached by these hosts besides. */
async function connectBeside(hosts: string[], settings: Record<string, string> = {}): Promise<Postgres> {
  const url = Object.assign(new URL((await borrowed()).url), { pathname: '/postgres' });
  const several = url.href.replace(url.host, [...hosts, url.host].join(','));
  return connectPostgres({ url: several, role: '', poolSize: 2, timeoutMs: 60_000, settings, log });
}

/** Takes connections and never says a word. */
async function listenSilently(): Promise<AsyncDisposable & { host: string }> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

describe('a pool of several hosts', () => {
  test('connects to the one that takes writes, whatever the others do', async () => {
    await using silent = await listenSilently();
    await using postgres = await connectBeside([CLOSED, silent.host]);
    await expect(postgres.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });

  test('says of each host why it is not connected, where none takes writes', async () => {
    const { url } = await borrowed();
    const readOnly = `?target_session_attrs=read-write&options=-c%20default_transaction_read_only%3Don`;
    const hosts = url.replace(new URL(url).host, `${CLOSED},${new URL(url).host}`).replace(/\/[^/]*$/, '/postgres');
    await using postgres = connectPostgres({
      url: `${hosts}${readOnly}`,
      role: '',
      poolSize: 2,
      timeoutMs: 60_000,
      log,
    });
    const said = /^Postgres at [^(]*\([^(]*ECONNREFUSED[^(]*; [^(]*: takes no writes\)/;
    await Promise.all([1, 2].map(() => expect(postgres.query('select')).rejects.toThrow(said)));
  });

  test('takes it for an outage where one host refuses the user and the others are away', async () => {
    const url = new URL((await borrowed()).url);
    const nobody = Object.assign(new URL(url), { username: 'nobody', pathname: '/postgres' }).href;
    const options = { role: '', poolSize: 1, timeoutMs: 60_000, log };
    await using beside = connectPostgres({ ...options, url: nobody.replace(url.host, `${CLOSED},${url.host}`) });
    const trouble: unknown = await beside.query('select').catch((error: unknown) => error);
    expect([isOutage(trouble), String(trouble)]).toEqual([true, expect.stringMatching(/ECONNREFUSED.*nobody/)]);
    await using alone = connectPostgres({ ...options, url: `${nobody}?target_session_attrs=read-write` });
    await expect(alone.query('select')).rejects.toThrow(/refuses the user "nobody"/);
  });
});

describe('a server that tells that it is read-only', () => {
  test.each<[string, (postgres: Postgres) => Promise<unknown>]>([
    ['a statement', (postgres) => postgres.query('create table never()')],
    ['a copy', (postgres) => copyAll(postgres, [{ text: 'copy pg_description from stdin', data: [] }])],
  ])('to %s is left by all connections of the pool', async (_what, write) => {
    await using postgres = await connectBeside([], { default_transaction_read_only: 'on' });
    const [one, other] = await Promise.all([postgres.connect(), postgres.connect()]);
    one.release();
    other.release();
    await expect(write(postgres)).rejects.toMatchObject({ code: '25006' });
    await until('no connection is left', () => postgres.totalCount === 0);
  });

  test('with an answer to a read is left by all connections of a pool that wants one that takes writes', async () => {
    await using postgres = await connectBeside([CLOSED]);
    const [one, other] = await Promise.all([postgres.connect(), postgres.connect()]);
    other.release();
    await one.query('set default_transaction_read_only = on');
    one.release();
    await until('no connection is left', () => postgres.totalCount === 0);
  });
});

/** Defaults of a server, each other than what is relied on, and written as Postgres shows it. */
const ODD_DEFAULTS = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kolkata',
  bytea_output: 'escape',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  search_path: 'public',
  default_transaction_isolation: 'serializable',
  statement_timeout: '7min',
  lock_timeout: '8min',
  idle_session_timeout: '9min',
};

/** `host`: of a proxy before the server. */
function connectOddly(server: URL, host = server.host): Postgres {
  const options = Object.entries(ODD_DEFAULTS).map(([name, value]) => `-c ${name}=${value}`);
  const url = Object.assign(new URL(server), { host, pathname: '/postgres' });
  url.searchParams.set('options', options.join(' '));
  return connectPostgres({ url: url.href, role: '', poolSize: 2, timeoutMs: 60_000, log });
}

describe('a session', () => {
  let server: URL;

  beforeAll(async () => {
    server = new URL((await borrowed()).url);
  });

  test('has what is relied on, whatever the defaults are', async () => {
    await using postgres = connectOddly(server);
    const { rows } = await postgres.query(
      `select array_agg(name) as odd from unnest($1::text[], $2::text[]) given(name, value) where current_setting(name) = value`,
      [Object.keys(ODD_DEFAULTS), Object.values(ODD_DEFAULTS)],
    );
    expect(rows).toEqual([{ odd: null }]);
    const values = `select '2026-11-30 01:00:00+00'::timestamptz as at, '\\x0102'::bytea as bytes, array['null']::text[] as words`;
    expect((await postgres.query(values)).rows).toEqual([
      { at: new Date('2026-11-30T01:00:00Z'), bytes: Buffer.from([1, 2]), words: ['null'] },
    ]);
  });

  test('takes a date that cannot be read for an error, never for none', async () => {
    await using postgres = connectOddly(server);
    const client = await postgres.connect();
    await client.query("set DateStyle = 'German'");
    for (const type of ['date', 'timestamp', 'timestamptz'])
      await expect(client.query(`select now()::${type} as at`)).rejects.toThrow('a date that cannot be read');
    expect((await client.query('select null::timestamptz as at')).rows).toEqual([{ at: null }]);
    client.release();
  });

  test('is taken from a proxy that tells the pid of something else, and passes on what it is told', async () => {
    await using proxy = await tellAnotherPid({ host: server.hostname, port: Number(server.port) });
    await using postgres = connectOddly(server, proxy.host);
    const client = await postgres.connect();
    const { rows } = await client.query('select pg_backend_pid() as pid');
    expect('processID' in client && client.processID).toBe(ANOTHER_PID);
    expect(rows[0].pid).not.toBe(ANOTHER_PID);
    client.release();
    await until('only the connection of the pool is open', () => proxy.open() === 1);
  });
});

const ANOTHER_PID = 4_711;
/** BackendKeyData, up to the pid. */
const KEY_DATA = Buffer.from('K\0\0\0\x0c', 'latin1');

async function tellAnotherPid(server: { host: string; port: number }) {
  let open = 0;
  const proxy = createServer((socket) => {
    open += 1;
    const onward = connect(server);
    onward.on('data', (bytes: Buffer) => {
      const place = bytes.indexOf(KEY_DATA);
      if (place >= 0) bytes.writeInt32BE(ANOTHER_PID, place + KEY_DATA.length);
      socket.write(bytes);
    });
    socket.on('data', (bytes) => onward.write(bytes));
    socket.on('close', () => {
      open -= 1;
      onward.destroy();
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on('error', () => other.destroy()).on('end', () => other.end());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    host: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    open: () => open,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void proxy.close(() => resolve())),
  };
}
