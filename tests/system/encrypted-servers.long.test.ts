import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { startStack } from '@waybell/stack/stack';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { readEnvironment } from '@waybell/runtime/environment';
import type { Log } from '@waybell/runtime/log';
import { brokerConfig, postgresConfig, redisConfig } from '@waybell/runtime/process-config';
import { connectRedis } from '@waybell/runtime/redis';
import { placeOf } from '@waybell/runtime/addresses';
import { brokerSettings, postgresSettings, redisSettings } from '@waybell/runtime/settings';
import { openDatabase } from '@waybell/subscription-api/database';
import { plainEnvironment } from '@waybell/cli/testing/plain-environment';
import { startTlsServers } from '../testing/tls-servers.ts';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';

const servers = shared(() => startTlsServers());

type Env = Record<string, string>;

/** The environment of a process that knows the servers' authority. */
function environment(): Env {
  const { urls, files } = servers;
  return { ...urls, TLS_CA_FILE: files.ca, TLS_CERTIFICATE_FILE: files.certificate, TLS_KEY_FILE: files.key };
}

/** How a process connects to each server, trying again and again until it is disposed of; and how it names it. */
const SERVERS = [
  {
    prefix: 'AMQP',
    named: ({ AMQP_URL = '' }: Env) => `"server":"${placeOf(AMQP_URL)}"`,
    connect: async (env: Env, log: Log) =>
      connectBroker({ ...brokerConfig(readEnvironment(brokerSettings, env)).broker, name: 'test', exchanges: [], log }),
  },
  {
    prefix: 'DATABASE',
    named: () => 'postgres (',
    connect: async (env: Env, log: Log) =>
      openDatabase({ ...postgresConfig(readEnvironment(postgresSettings, env)).postgres, log }),
  },
  {
    prefix: 'REDIS',
    named: ({ REDIS_URL = '' }: Env) => `"server":"${placeOf(REDIS_URL)}"`,
    connect: async (env: Env, log: Log) =>
      connectRedis({ ...redisConfig(readEnvironment(redisSettings, env)).redis, log }),
  },
] as const;

/** Resolves once the log says why it does not connect, and to which server. */
async function untilRefused({ connect, named }: (typeof SERVERS)[number], env: Env, reason: RegExp): Promise<void> {
  const lines: string[] = [];
  await using _connecting = await connect(env, pino({}, { write: (line) => void lines.push(line) }));
  await until(`the log names the server, and says ${reason.source}`, () =>
    lines.some((line) => reason.test(line) && line.includes(named(env))),
  );
}

describe('over TLS', () => {
  test('the whole system comes up, commands and services, and nothing of it goes unencrypted', async () => {
    const authorities = join(servers.home, 'several.pem');
    writeFileSync(authorities, `${anAuthority('of another server').cert}\n${readFileSync(servers.files.ca, 'utf8')}`);
    await using stack = await startStack({
      home: join(servers.home, 'stack'),
      env: { ...plainEnvironment(), ...environment(), TLS_CA_FILE: authorities },
    });
    expect(stack.services.map(({ state }) => state)).toEqual(stack.services.map(() => 'ready'));
    const asked = new pg.Client({ connectionString: servers.plainDatabaseUrl });
    await asked.connect();
    try {
      const { rows } = await asked.query(
        `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
         where datname = current_database() and pid <> pg_backend_pid()`,
      );
      expect(rows).toEqual([{ ssl: true }]);
    } finally {
      await asked.end();
    }
  });

  test.each(SERVERS)('an authority that does not vouch for $prefix is not enough', async (server) => {
    const file = join(servers.home, 'stranger.pem');
    writeFileSync(file, anAuthority('somebody else').cert);
    const env = { ...environment(), TLS_CA_FILE: file };
    await untilRefused(server, env, /self-signed certificate in certificate chain|unable to/);
  });

  test.each(SERVERS)('the certificate of $prefix has to be made for the name it is called by', async (server) => {
    const url = `${server.prefix}_URL` as const;
    const env = { ...environment(), [url]: servers.urls[url].replace('localhost', '127.0.0.1') };
    await untilRefused(server, env, /does not match certificate's altnames/);
  });

  test('certificates that are over are refused, of every server', async () => {
    await servers.expire();
    await Promise.all(SERVERS.map((server) => untilRefused(server, environment(), /certificate has expired/)));
  });
});
