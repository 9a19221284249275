import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { onConnection } from '@waybell/line/operating/connect-once';
import { listen } from '@waybell/runtime/health';
import { connectPostgres } from '@waybell/runtime/postgres';
import { connectRedis } from '@waybell/runtime/redis';
import { troubleWith } from '@waybell/runtime/server-trouble';
import { borrowPostgres, borrowRedis, borrowVhost } from '@waybell/runtime/testing/borrow';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { startStack } from './stack.ts';

/** The expected message for a connection to that address. */
const TRIES = {
  rabbitmq: async (url: string) =>
    onConnection({ url }, async () => 'connected').catch((error: Error) => error.message),
  async postgres(url: string) {
    await using pool = connectPostgres({ url, role: '', poolSize: 1, timeoutMs: 60_000, log });
    return pool.query('select').then(
      () => 'connected',
      (error: Error) => error.message,
    );
  },
  async redis(url: string) {
    await using redis = connectRedis({ url, timeoutMs: 60_000, log });
    const [error] = (await once(redis, 'error')) as [Error];
    return troubleWith({ server: 'Redis', url }, error);
  },
};
const LENT = {
  rabbitmq: async () => (await borrowVhost()).url,
  postgres: async () => (await borrowPostgres()).url,
  redis: async () => (await borrowRedis()).url,
};

const PASSWORD = 's3cret';
const withPassword = (url: string) => url.replace(/:[^:/@]*@/, `:${PASSWORD}@`);
const withPath = (url: string) => url.replace(/\/[^/]*$/, '/99999');
const withPort = (url: string) => url.replace(/:\d+\//, ':1/');

describe('what is said of a wrong address', () => {
  test.each<[keyof typeof LENT, string, (url: string) => string, RegExp]>([
    ['rabbitmq', 'password', withPassword, /^RabbitMQ at [\d.:]+, which AMQP_URL names, refuses the user "waybell" or/],
    ['rabbitmq', 'virtual host', withPath, /has no "99999" that the user "waybell" may use .*correct AMQP_URL/],
    [
      'rabbitmq',
      'port',
      withPort,
      /^RabbitMQ at 127.0.0.1:1, which AMQP_URL names, cannot be reached \(.*ECONNREFUSED/,
    ],
    [
      'postgres',
      'password',
      withPassword,
      /^Postgres at [\d.:]+, which DATABASE_URL names, refuses the user "waybell" or/,
    ],
    ['postgres', 'database', withPath, /has no "99999" that the user "waybell" may use .*correct DATABASE_URL/],
    [
      'postgres',
      'port',
      withPort,
      /^Postgres at 127.0.0.1:1, which DATABASE_URL names, cannot be reached \(.*ECONNREFUSED/,
    ],
    ['redis', 'password', withPassword, /^Redis at [\d.:]+, which REDIS_URL names, refuses the user "" or/],
    ['redis', 'database', withPath, /has no "99999" that the user "" may use .*correct REDIS_URL/],
    ['redis', 'port', withPort, /^Redis at 127.0.0.1:1, which REDIS_URL names, cannot be reached \(.*ECONNREFUSED/],
  ])('names the server and the setting, and says what to do: %s, another %s', async (name, _what, wrong, sentence) => {
    const said = await TRIES[name](wrong(await LENT[name]()));
    expect(said).toMatch(sentence);
    expect(said).not.toContain(PASSWORD);
  });
});

describe('a port that is taken', () => {
  test('is said before anything of a stack starts', async () => {
    const server = createServer();
    const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
    const home = mkdtempSync(join(tmpdir(), 'waybell-port-'));
    const starting = startStack({ home, env: { PORT: String(port) } });
    await expect(starting).rejects.toThrow(
      `PORT: cannot listen on 127.0.0.1:${port}: something else does; stop it, or set another port`,
    );
    server.close();
    rmSync(home, { recursive: true });
  });
});
