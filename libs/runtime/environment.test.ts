import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import {
  address,
  bytes,
  constant,
  count,
  duration,
  durations,
  InvalidEnvironment,
  mistypedSettings,
  readEnvironment,
  str,
  tolerated,
  wait,
} from './environment.ts';
import { withConstants } from './gone-settings.ts';

const specs = {
  DELAY: duration({ default: 60_000 }),
  DELAYS: durations({ default: [1_000] }),
  SLOTS: count({ per: 'process', default: 8 }),
  SIZE: bytes({ per: 'process', default: 1 }),
};

describe('readEnvironment', () => {
  test('reads durations as milliseconds and sizes as bytes', () => {
    const read = readEnvironment(specs, { DELAY: '4s', DELAYS: '1s, 2s,4s', SIZE: '64KiB' });
    expect({ ...read }).toMatchObject({ DELAY: 4_000, DELAYS: [1_000, 2_000, 4_000], SIZE: 65_536, SLOTS: 8 });
  });

  test('takes an empty value as not set', () => {
    expect(readEnvironment(specs, { SLOTS: '' }).SLOTS).toBe(8);
  });

  test('names every bad setting at once', () => {
    const read = () => readEnvironment(specs, { DELAY: '4', SLOTS: '0' });
    expect(read).toThrow(InvalidEnvironment);
    expect(read).toThrow(/DELAY[^]*SLOTS/);
  });
});

describe('readEnvironment, where a setting is missing,', () => {
  test('names the variable that was probably meant for it', () => {
    const read = () =>
      readEnvironment({ DATABASE_URL: str({ desc: 'Postgres' }) }, { DATABASE_URI: 'x', DATABASE: 'y' });
    expect(read).toThrow(/DATABASE_URL: is not set: Postgres.*; DATABASE_URI is set: is this meant\?$/m);
  });
});

describe('wait', () => {
  const read = (text: string) => readEnvironment({ LIMIT: wait({}) }, { LIMIT: text }).LIMIT;

  test.each([
    ['1ms', 1],
    ['24d', 2_073_600_000],
  ])('takes %s', (text, ms) => {
    expect(read(text)).toBe(ms);
  });

  test.each(['0s', '0.1ms', '25d', '1000h'])('refuses %s, for which a timer would fire at once', (text) => {
    expect(() => read(text)).toThrow(`LIMIT: "${text}" cannot be waited for: write a time from 1ms to 24d`);
  });
});

describe('address', () => {
  const read = (text: string) => readEnvironment({ BROKER: address('amqp', 'amqps')({}) }, { BROKER: text }).BROKER;

  test.each([
    'amqp://rabbitmq',
    'amqps://user:p%40ss@[::1]:5671/%2f?heartbeat=5',
    'amqp://user:p,ss@a:1,b:2/v',
    'amqp://a,amqps://b',
  ])('takes %s', (text) => {
    expect(read(text)).toBe(text);
  });

  test.each([
    'user:s3cret@rabbitmq',
    'amqp://user:s3cret@[rabbitmq/',
    'amqp://user:s3#cret@rabbitmq',
    '/s3cret',
    'http://s3cret',
    'amqp://a,http://s3cret',
  ])('refuses %s without showing it', (text) => {
    expect(() => read(text)).toThrow(/^(?!.*(s3|cret))[^]*BROKER: is not an address with amqp:\/\/ or amqps:\/\//);
  });
});

describe('readEnvironment, where Node.js is told not to check certificates,', () => {
  test('refuses to start, and says what to do instead', () => {
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    expect(() => readEnvironment(specs, env)).toThrow(/NODE_TLS_REJECT_UNAUTHORIZED: 0 would .*NODE_EXTRA_CA_CERTS/);
  });
});

describe('readEnvironment, given NAME_FILE,', () => {
  const folder = mkdtempSync(join(tmpdir(), 'environment-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'secret');
  writeFileSync(path, 'a secret \n');
  const secret = { SECRET: str({}) };

  test('reads what the file holds, but for the end of its last line', () => {
    expect(readEnvironment(secret, { SECRET_FILE: path })).toMatchObject({ SECRET: 'a secret ' });
  });

  test('warns of a file that cannot be read for a setting that keeps no process from starting', () => {
    const warnings: string[] = [];
    const read = readEnvironment({ TRACES: tolerated(str({ default: 'x' })) }, { TRACES_FILE: '/none' }, (text) =>
      warnings.push(text),
    );
    expect([read.TRACES, warnings]).toEqual([
      'x',
      ['TRACES_FILE: "/none" cannot be read: there is no such file: TRACES counts as not set'],
    ]);
  });

  test.each([
    [{ SECRET: 'x', SECRET_FILE: path }, 'SECRET_FILE: SECRET is set as well'],
    [{ SECRET_FILE: join(folder, 'none') }, 'SECRET_FILE: "'],
  ])('refuses a file that is one value too many, or is not there', (env, problem) => {
    expect(() => readEnvironment(secret, env)).toThrow(problem);
  });
});

describe('readEnvironment, given what is no setting any more,', () => {
  const read = (env: NodeJS.ProcessEnv) =>
    readEnvironment({ ...specs, LISTENER_LIFE: constant(wait({ default: 30_000 })) }, env);

  test('names all of it at once, with what replaced it, beside all else that is wrong', () => {
    const env = { AMQP_CA_FILE: '/ca.pem', LISTENER_LIFE: '1m', HEALTH_HOST: '', SLOTS: '0', SIZE_FILE: '/none' };
    expect(() => read(env)).toThrow(
      expect.objectContaining({
        problems: [
          'AMQP_CA_FILE is gone: set TLS_CA, which holds for RabbitMQ, Postgres and Redis',
          'LISTENER_LIFE is gone: it is 30s always',
          'SIZE_FILE: "/none" cannot be read: there is no such file',
          'SLOTS: "0" is not a whole number of at least 1',
        ],
      }),
    );
  });

  test('reads a constant as it is, but where a test changes it', () => {
    expect(read({}).LISTENER_LIFE).toBe(30_000);
    expect(read(withConstants({ LISTENER_LIFE: '5s', SLOTS: '2' }))).toMatchObject({ LISTENER_LIFE: 5_000, SLOTS: 2 });
    expect(read(withConstants({ LISTENER_LIFE: '' })).LISTENER_LIFE).toBe(30_000);
  });

  test('refuses to change what is no constant', () => {
    expect(() => read({ WAYBELL_TEST_SLOTS: '1' })).toThrow('WAYBELL_TEST_SLOTS: there is no such constant');
  });
});

const SETTINGS = [
  'AMQP_URL',
  'CARRIER_RETRY_DELAYS',
  'SECRET_KEYS',
  'TLS_CA',
  'PORT',
  'HOST',
  'LOG_LEVEL',
  'LOG_RETENTION',
];

describe('mistypedSettings', () => {
  test.each([
    ['CARRIER_RETRY_DELAY', 'CARRIER_RETRY_DELAYS'],
    ['CARIER_RETRY_DELAY', 'CARRIER_RETRY_DELAYS'],
    ['AMQP_URI', 'AMQP_URL'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['SECRET_KEY_FILE', 'SECRET_KEYS_FILE'],
  ])('takes %s for %s', (name, setting) => {
    expect(mistypedSettings(SETTINGS, { [name]: 'x' })).toEqual([{ name, setting }]);
  });

  test.each([
    ['a setting that is set, by name or by file', { SECRET_KEYS_FILE: '/run/keys', SECRET_KEY: 'of Django' }],
    ['an empty value', { AMQP_URI: '' }],
    [
      'what others have',
      { PATH: '/bin', HOME: '/', HOSTS: 'x', HOSTNAME: 'x', POST: '1', LOGNAME: 'x', LOG_FILE: 'x', REDIS_DB: '1' },
    ],
    [
      'what Kubernetes says of other services',
      { REDIS_PORT: 'tcp://1', REDIS_SERVICE_HOST: '1', AMQP_PORT_5672_TCP: '1' },
    ],
  ])('says nothing of %s', (_what, env) => {
    expect(mistypedSettings(SETTINGS, env)).toEqual([]);
  });
});
