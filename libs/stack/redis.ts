import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { hostAndPort, reaches } from './ports.ts';
import {
  fetchImage,
  inContainer,
  serverEnvironment,
  type ContainerSetup,
  type PrivateServer,
  type ServerSetup,
} from './private-server.ts';
import { logFileOf, writePrivately } from './stack-folder.ts';
import { portOf, type StackRecord } from './stack-record.ts';
import { STARTING_LIMIT_MS } from './supervised-process.ts';

/** The number of databases of a Redis that many tests share. */
export const DATABASES = 1_024;

/** Redis for one stack, on loopback, in memory only: it holds nothing that may not be lost. */
export function redis({ folder, record, binary, isThrowaway }: ServerSetup): PrivateServer {
  const home = join(folder.home, 'redis');
  const port = portOf(record, 'redis');
  const url = urlOf(record);
  return {
    url,
    processes: [
      {
        name: 'redis',
        role: 'server',
        command: binary,
        args: [join(home, 'redis.conf')],
        env: serverEnvironment({ HOME: home }),
        cwd: home,
        logFile: logFileOf(folder, 'redis'),
        address: url,
        ...how(url),
      },
    ],
    prepare: async () => {
      mkdirSync(home, { recursive: true, mode: 0o700 });
      writePrivately(join(home, 'redis.conf'), settings({ host: '127.0.0.1', port, record, isThrowaway }));
    },
  };
}

/** The same in a container, with the usual port. */
export function redisContainer(setup: ContainerSetup): PrivateServer {
  const { folder, record, isThrowaway, report } = setup;
  const home = join(folder.home, 'redis');
  const file = join(home, 'container.conf');
  const url = urlOf(record);
  const container = inContainer(setup, {
    name: 'redis',
    ports: { 6379: portOf(record, 'redis') },
    copied: { from: file, to: '/redis.conf' },
    args: ['redis-server', '/redis.conf'],
  });
  return {
    url,
    processes: [{ ...container, address: url, ...how(url) }],
    async prepare() {
      await fetchImage('redis', report);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      // The server in the container runs as another user.
      writeFileSync(file, settings({ host: '0.0.0.0', port: 6379, record, isThrowaway }));
    },
  };
}

const urlOf = (record: StackRecord): string =>
  `redis://:${record.cachePassword}@127.0.0.1:${portOf(record, 'redis')}/0`;

const how = (url: string) => ({
  waitsFor: () => waitsForPing(url),
  readyMs: STARTING_LIMIT_MS,
  graceMs: 10_000,
});

type RedisSettings = Pick<ServerSetup, 'record' | 'isThrowaway'> & { host: string; port: number };

const settings = ({ host, port, record, isThrowaway }: RedisSettings): string =>
  [
    `bind ${host}`,
    `port ${port}`,
    `requirepass ${record.cachePassword}`,
    'save ""',
    'appendonly no',
    ...(isThrowaway ? [`databases ${DATABASES}`] : []),
    '',
  ].join('\n');

async function waitsForPing(url: string): Promise<string | undefined> {
  if (!(await reaches(hostAndPort(url)))) return 'its port';
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
    return undefined;
  } catch (error) {
    return `an answer to PING (${String(error)})`;
  } finally {
    client.disconnect();
  }
}
