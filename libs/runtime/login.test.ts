import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readEnvironment } from './environment.ts';
import { Login } from './login.ts';
import { connectPostgres } from './postgres.ts';
import { connectRedis } from './redis.ts';
import { postgresAddress, redisAddress } from './server-address.ts';
import { postgresSettings, redisSettings } from './settings.ts';
import { borrowPostgres, borrowRedis } from './testing/borrow.ts';
import { until } from './testing/until.ts';
import { TurnedClock } from './turned-clock.ts';
import { silentLog as log } from './testing/patience.ts';
import { sharedFolder } from './testing/shared.ts';

const home = sharedFolder('login');
let file: string;

beforeAll(() => {
  file = join(home, 'url');
});

const urlWith = (password: string) => `postgres://waybell:${password}@postgres/waybell`;
const refusal = () => Object.assign(new Error('password authentication failed'), { code: '28P01' });

beforeEach(() => writeFileSync(file, `${urlWith('old')}\n`));

function aLogin(env: NodeJS.ProcessEnv = { DATABASE_URL_FILE: file }) {
  const clock = new TurnedClock();
  const address = postgresAddress(readEnvironment(postgresSettings, env));
  return { login: new Login('Postgres', address, clock), clock };
}

describe('a login that was refused', () => {
  test('is tried at once with what its file holds by then', () => {
    const { login } = aLogin();
    const tried = login.address();
    writeFileSync(file, urlWith('new'));
    expect(login.address()).toBe(tried);
    login.failed(tried, refusal());
    expect([login.isDue(), login.waitingFor(), login.address().url]).toEqual([true, [], urlWith('new')]);
    login.failed(login.address(), refusal());
    expect(login.isDue()).toBe(false);
    writeFileSync(file, urlWith('newest'));
    expect([login.isDue(), login.address().url]).toEqual([true, urlWith('newest')]);
  });

  test('is repeated after 1 s, then 2, 4 and so on up to 30, and says meanwhile that the file holds what was tried', () => {
    const { login, clock } = aLogin();
    const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
    for (const waitMs of waits) {
      expect(() => login.requireDue()).not.toThrow();
      for (const _atOnce of [1, 2, 3]) login.failed(login.address(), refusal());
      clock.skipTo(clock.now() + waitMs - 1);
      expect(() => login.requireDue()).toThrow('password authentication failed');
      clock.skipTo(clock.now() + 1);
    }
    const said = `postgres: Postgres at postgres, which DATABASE_URL names, refuses the user "waybell" or its password (password authentication failed): DATABASE_URL_FILE (${file}) holds what was tried: correct one of the two`;
    expect(login.waitingFor()).toEqual([said]);
    login.succeeded(login.address());
    expect([login.waitingFor(), login.isDue()]).toEqual([[], true]);
  });

  test('says that the file differs where it cannot be used, and goes on with what it has', () => {
    const { login } = aLogin();
    const tried = login.address();
    writeFileSync(file, 'half of an ad');
    login.failed(tried, refusal());
    expect(login.address()).toBe(tried);
    expect(login.waitingFor()).toEqual([
      expect.stringContaining(`DATABASE_URL_FILE (${file}) differs from what was tried, and cannot be used`),
    ]);
    expect(login.waitingFor().join()).not.toContain('half');
  });

  test('is not read again from the environment itself, which its operator has to correct', () => {
    const { login } = aLogin({ DATABASE_URL: urlWith('old') });
    login.failed(login.address(), refusal());
    expect(login.waitingFor()).toEqual([expect.stringMatching(/: correct DATABASE_URL$/)]);
  });

  test('of an earlier address says nothing of the one that came after it', () => {
    const { login } = aLogin();
    const earlier = login.address();
    login.failed(earlier, refusal());
    writeFileSync(file, urlWith('new'));
    login.succeeded(login.address());
    login.failed(earlier, refusal());
    expect([login.isDue(), login.waitingFor(), login.address().url]).toEqual([true, [], urlWith('new')]);
  });
});

test('another failure is repeated at once, with what the file holds by then, and says nothing of a login', () => {
  const { login } = aLogin();
  login.failed(login.address(), Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  expect([login.isDue(), login.waitingFor(), login.address().url]).toEqual([true, [], urlWith('old')]);
  writeFileSync(file, urlWith('new'));
  expect(login.address().url).toBe(urlWith('new'));
});

const own = (url: string, username: string, password: string) =>
  Object.assign(new URL(url), { username, password }).href;
const outcomeOf = (asked: Promise<unknown>) => asked.then(() => 'answered').catch(String);

describe('a password that is rotated', () => {
  test('in Postgres is taken from its file by a pool that was refused', async () => {
    const { url } = await borrowPostgres();
    const options = { role: '', poolSize: 1, timeoutMs: 60_000, log };
    await using owner = connectPostgres({ ...options, url });
    const user = `rotated_${process.pid}`;
    await owner.query(`create role ${user} login password 'old'`);
    try {
      writeFileSync(file, own(url, user, 'old'));
      const address = postgresAddress(readEnvironment(postgresSettings, { DATABASE_URL_FILE: file }));
      await using postgres = connectPostgres({ ...options, ...address, keptIdleMs: 1 });
      await postgres.query('select');
      await owner.query(`alter role ${user} password 'new'`);
      await until('it is refused', async () =>
        (await outcomeOf(postgres.query('select'))).includes('holds what was tried'),
      );
      writeFileSync(file, own(url, user, 'new'));
      await until('it is let in again', async () => (await outcomeOf(postgres.query('select'))) === 'answered');
    } finally {
      await until('nobody is that user', () =>
        owner
          .query(`drop role ${user}`)
          .then(() => true)
          .catch(() => false),
      );
    }
  });

  test('in Redis is taken from its file by a client that was refused', async () => {
    const { url } = await borrowRedis();
    await using owner = connectRedis({ url, timeoutMs: 60_000, log });
    await until('it is connected', () => owner.status === 'ready');
    const user = `rotated-${process.pid}`;
    const allow = (password: string) =>
      owner.call('acl', 'setuser', user, 'reset', 'on', `>${password}`, '~*', '+@all');
    await allow('old');
    try {
      writeFileSync(file, own(url, user, 'old'));
      const address = redisAddress(readEnvironment(redisSettings, { REDIS_URL_FILE: file }));
      const login = new Login('Redis', address);
      await using redis = connectRedis({ ...address, timeoutMs: 60_000, login, log });
      await until('it is connected', () => redis.status === 'ready');
      await allow('new');
      await owner.call('client', 'kill', 'user', user);
      await until('it is refused', () => login.waitingFor().join().includes('holds what was tried'));
      writeFileSync(file, own(url, user, 'new'));
      await until('it is let in again', async () => (await outcomeOf(redis.ping())) === 'answered');
      expect(login.waitingFor()).toEqual([]);
    } finally {
      await owner.call('acl', 'deluser', user);
    }
  });
});
