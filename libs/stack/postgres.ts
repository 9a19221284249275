import { spawn } from 'node:child_process';
import { chownSync, closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresFolder } from './postgres-folder.ts';
import {
  fetchImage,
  inContainer,
  serverEnvironment,
  type ContainerSetup,
  type PrivateServer,
  type ServerSetup,
} from './private-server.ts';
import { unprivilegedUser, type User } from './programs.ts';
import { logFileOf } from './stack-folder.ts';
import { portOf, type StackRecord } from './stack-record.ts';
import { STARTING_LIMIT_MS, StartFailed } from './supervised-process.ts';

const DATABASE = 'waybell';
/** Connections that docs/operating/sizing.md counts on. */
export const MAX_CONNECTIONS = 200;
/** Queries that several processes work on share memory, of which a container has 64 MB by itself. */
export const SHARED_MEMORY = '256m';
/** Beyond it the server is queried once more. */
const ANSWER_LIMIT_MS = 5_000;

/** A crash of the machine may lose data, which does not matter for a throwaway server; a crash of the process loses nothing. */
const THROWAWAY = ['fsync=off', 'full_page_writes=off'];

/** Postgres for one stack, on loopback only, with a password; durable as in production. `binary` is `postgres`. */
export function postgres({ folder, record, binary, isThrowaway }: ServerSetup): PrivateServer {
  const user = unprivilegedUser();
  const home = postgresFolder(folder, record, user);
  const data = join(home, 'data');
  const port = portOf(record, 'postgres');
  const url = urlOf(record);
  const place = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const server = {
    name: 'postgres',
    role: 'server' as const,
    command: binary,
    args: ['-D', data, ...settings(isThrowaway, place)],
    env: serverEnvironment({ HOME: home }),
    cwd: home,
    ...(user === undefined ? {} : { user: { uid: user.uid, gid: user.gid } }),
    logFile: logFileOf(folder, 'postgres'),
    address: url,
    ...how(url),
  };
  const prepare = async () => {
    if (existsSync(join(home, 'initialised'))) return;
    rmSync(data, { recursive: true, force: true });
    await initialise({ home, data, binary, user, password: record.databasePassword, server });
    writeFileSync(join(home, 'initialised'), '');
  };
  return { url, processes: [server], prepare };
}

/** The same in a container, with the usual port. */
export function postgresContainer(setup: ContainerSetup): PrivateServer {
  const { record, isThrowaway, report } = setup;
  const url = urlOf(record);
  const container = inContainer(setup, {
    name: 'postgres',
    ports: { 5432: portOf(record, 'postgres') },
    data: '/var/lib/postgresql/data',
    env: { POSTGRES_USER: 'waybell', POSTGRES_PASSWORD: record.databasePassword, POSTGRES_DB: DATABASE },
    options: [`--shm-size=${SHARED_MEMORY}`],
    args: ['postgres', ...settings(isThrowaway)],
  });
  return {
    url,
    processes: [{ ...container, address: url, ...how(url) }],
    prepare: () => fetchImage('postgres', report),
  };
}

const urlOf = (record: StackRecord): string =>
  `postgres://waybell:${record.databasePassword}@127.0.0.1:${portOf(record, 'postgres')}/${DATABASE}`;

const settings = (isThrowaway: boolean | undefined, place: string[] = []): string[] =>
  [...place, `max_connections=${MAX_CONNECTIONS}`, ...(isThrowaway ? THROWAWAY : [])].flatMap((setting) => [
    '-c',
    setting,
  ]);

const how = (url: string) => ({
  waitsFor: () => waitsForQuery(url),
  readyMs: STARTING_LIMIT_MS,
  graceMs: 30_000,
  // Ends sessions instead of waiting for them to end.
  stopSignal: 'SIGINT' as const,
});

type Initialise = {
  home: string;
  data: string;
  binary: string;
  user: User | undefined;
  password: string;
  server: PrivateServer['processes'][number];
};

async function initialise({ home, data, binary, user, password, server }: Initialise): Promise<void> {
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) chownSync(passwordFile, user.uid, user.gid);
  const cluster = [
    '-D',
    data,
    '-U',
    'waybell',
    '-E',
    'UTF8',
    '--no-locale',
    '--auth=scram-sha-256',
    '--no-instructions',
  ];
  try {
    // Without --no-sync this takes seconds; the first checkpoint writes all of it to disk.
    await run(server, [join(binary, '..', 'initdb'), ...cluster, `--pwfile=${passwordFile}`, '--no-sync']);
    await run(server, [binary, '--single', '-D', data, 'postgres'], `create database ${DATABASE}\n`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Runs one command to its end, as the server's user, into the server's log. */
async function run(server: Initialise['server'], [command = '', ...args]: string[], input = ''): Promise<void> {
  const log = openSync(server.logFile, 'a', 0o600);
  const child = spawn(command, args, {
    cwd: server.cwd,
    env: server.env,
    ...server.user,
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const status = await new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  });
  if (status !== 0) throw new StartFailed(server, `could not be initialised: ${command} ended with ${String(status)}`);
}

async function waitsForQuery(url: string): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_LIMIT_MS,
    query_timeout: ANSWER_LIMIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return undefined;
  } catch (error) {
    return `an answer to "select 1" (${String(error)})`;
  } finally {
    await client.end().catch(() => undefined);
  }
}
