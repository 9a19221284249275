import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { PrivateServer, ServerSetup } from './private-server.ts';
import { hostAndPort, reaches } from './reaches.ts';
import { serverEnvironment } from './server-environment.ts';
import { logFileOf, writePrivately } from './stack-folder.ts';
import { portOf } from './stack-record.ts';
import { STARTING_LIMIT_MS } from './supervised-process.ts';

/** The number of databases of a Redis that many tests share. */
export const DATABASES = 1_024;

/** Redis for one stack, on loopback, in memory only: it holds nothing that may not be lost. */
export function redis({ folder, record, binary, isThrowaway }: ServerSetup): PrivateServer {
  const home = join(folder.home, 'redis');
  const port = portOf(record, 'redis');
  const url = `redis://:${record.cachePassword}@127.0.0.1:${port}/0`;
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
        waitsFor: () => waitsForPing(url),
        readyMs: STARTING_LIMIT_MS,
        graceMs: 10_000,
      },
    ],
    prepare: async () => {
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const lines = [
        'bind 127.0.0.1',
        `port ${port}`,
        `requirepass ${record.cachePassword}`,
        'save ""',
        'appendonly no',
        ...(isThrowaway ? [`databases ${DATABASES}`] : []),
        '',
      ];
      writePrivately(join(home, 'redis.conf'), lines.join('\n'));
    },
  };
}

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
