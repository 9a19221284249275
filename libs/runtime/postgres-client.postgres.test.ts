import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { createLog } from './log.ts';
import { connectPostgres, copyAll, isOutage, type Postgres } from './postgres.ts';
import { borrowPostgres } from './testing/borrow.ts';
import { until } from './testing/until.ts';

const log = createLog({ service: 'test', level: 'silent' });
/** Nothing listens there. */
const CLOSED = '127.0.0.1:1';

/** The server that tests share, reached by these hosts besides. */
async function connectBeside(hosts: string[], settings: Record<string, string> = {}): Promise<Postgres> {
  const url = Object.assign(new URL((await borrowPostgres()).url), { pathname: '/postgres' });
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
    const { url } = await borrowPostgres();
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
    const url = new URL((await borrowPostgres()).url);
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
