import { describe, expect, test } from '@jest/globals';
import { Login } from './login.ts';
import { relyOnPostgres, wrongIn } from './reliance.ts';
import { Readiness } from './readiness.ts';
import { borrowPostgres } from './testing/borrow.ts';
import { until } from './testing/until.ts';
import { connectPostgres } from './postgres.ts';
import { silentLog as log } from './testing/patience.ts';

const RIGHT = {
  redis_version: '7.0.15',
  maxmemory: '0',
  maxmemory_policy: 'allkeys-lru',
  role: 'master',
  cluster_enabled: '0',
};
const info = (other: Partial<typeof RIGHT>) =>
  ['# Server', ...Object.entries({ ...RIGHT, ...other }).map((line) => line.join(':')), ''].join('\r\n');

describe('a Redis', () => {
  test.each<[string, Partial<typeof RIGHT>, string[]]>([
    ['as it is shipped', {}, []],
    ['that forgets what ends soonest', { maxmemory: '1048576', maxmemory_policy: 'volatile-ttl' }, []],
    ['that forgets nothing', { maxmemory: '1048576', maxmemory_policy: 'noeviction' }, []],
    ['that is a cluster', { cluster_enabled: '1' }, ['is a cluster']],
    ['that is a replica', { role: 'slave' }, ['is a replica']],
    ['that forgets what was not used lately', { maxmemory: '1048576' }, ['maxmemory-policy allkeys-lru']],
    ['that forgets any with an end', { maxmemory: '1', maxmemory_policy: 'volatile-lru' }, []],
    ['that is too old', { redis_version: '5.0.14' }, ['is of version 5.0.14, not 6 or newer']],
    ['that is all of that', { role: 'slave', cluster_enabled: '1' }, ['is a cluster', 'is a replica']],
  ])('%s', (_which, other, wrong) => {
    expect(wrongIn(info(other))).toEqual(wrong.map((each) => expect.stringContaining(each)));
  });
});

test('a process is not ready while Postgres takes no writes, and names that and other things that it relies on', async () => {
  const { url } = await borrowPostgres();
  const options = { url, role: '', poolSize: 1, timeoutMs: 60_000, log };
  await using postgres = connectPostgres(options);
  const name = `reliant_${process.pid}`;
  await postgres.query(`create role ${name} login password '${new URL(url).password}'`);
  const readiness = new Readiness(log);
  const own = Object.assign(new URL(url), { username: name }).href;
  let isBehind = false;
  const also = async () => {
    if (isBehind) await postgres.query('select never()');
  };
  try {
    await postgres.query(`alter role ${name} set default_transaction_read_only = on`);
    const login = new Login('Postgres', { url: own });
    await using _watch = relyOnPostgres({ ...options, url: own, login, also }, { readiness, log, everyMs: 10 });
    const waits = (what: string[]) =>
      until(`it waits for ${what.join()}`, () => readiness.waitingFor().join() === what.join());
    await waits(['postgres: takes no writes: it is a standby, or default_transaction_read_only is on']);
    await postgres.query(`alter role ${name} reset default_transaction_read_only`);
    await waits([]);
    isBehind = true;
    await waits(['migrations (run `waybell migrate`)']);
    isBehind = false;
    await waits([]);
  } finally {
    await postgres.query(`drop role ${name}`);
  }
  expect(readiness.waitingFor()).toEqual([]);
});
