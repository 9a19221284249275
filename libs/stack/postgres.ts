import { spawn } from 'node:child_process';
import { chownSync, closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresFolder } from './postgres-folder.ts';
import type { PrivateServer, ServerSetup } from './private-server.ts';
import { serverEnvironment } from './server-environment.ts';
import { logFileOf } from './stack-folder.ts';
import { portOf } from './stack-record.ts';
import { STARTING_LIMIT_MS, StartFailed } from './supervised-process.ts';
import { unprivilegedUser, type User } from './unprivileged-user.ts';

const DATABASE = 'waybell';
/** Beyond it the server is asked again. */
const ANSWER_LIMIT_MS = 5_000;

/** What a crash of the machine would cost is nothing to a server that is thrown away; one of the process costs nothing. */
const THROWAWAY = ['fsync=off', 'full_page_writes=off'];

/** Postgres for one stack, on loopback only, with a password; durable as in production. `binary` is `postgres`. */
export function postgres({ folder, record, binary, isThrowaway }: ServerSetup): PrivateServer {
  const user = unprivilegedUser();
  const home = postgresFolder(folder, record, user);
  const data = join(home, 'data');
  const port = portOf(record, 'postgres');
  const url = `postgres://waybell:${record.databasePassword}@127.0.0.1:${port}/${DATABASE}`;
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
  if (isThrowaway) settings.push(...THROWAWAY);
  const server = {
    name: 'postgres',
    role: 'server' as const,
    command: binary,
    args: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    env: serverEnvironment({ HOME: home }),
    cwd: home,
    ...(user === undefined ? {} : { user: { uid: user.uid, gid: user.gid } }),
    logFile: logFileOf(folder, 'postgres'),
    address: url,
    waitsFor: () => waitsForQuery(url),
    readyMs: STARTING_LIMIT_MS,
    graceMs: 30_000,
    // Ends sessions instead of waiting for them to end.
    stopSignal: 'SIGINT' as const,
  };
  const prepare = async () => {
    if (existsSync(join(home, 'initialised'))) return;
    rmSync(data, { recursive: true, force: true });
    await initialise({ home, data, binary, user, password: record.databasePassword, server });
    writeFileSync(join(home, 'initialised'), '');
  };
  return { url, processes: [server], prepare };
}

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
