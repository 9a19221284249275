import { generateKeyPairSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { placeOf } from './addresses.ts';
import { brokerAddress, postgresAddress, redisAddress, requireUseOfTls } from './server-address.ts';

const NO_TLS = { TLS_CA: '', TLS_CERTIFICATE: '', TLS_KEY: '' };
const broker = { AMQP_URL: 'amqps://u:p@host', ...NO_TLS };
const postgres = {
  DATABASE_URL: 'postgres://u:p@host/db',
  ...NO_TLS,
};
const redis = { REDIS_URL: 'rediss://host', ...NO_TLS };

describe('the address of a server', () => {
  test('asks for TLS by its scheme, and of Postgres by sslmode=verify-full, which is ours to read', () => {
    expect(brokerAddress(broker)).toEqual({ url: broker.AMQP_URL, tls: {} });
    expect(redisAddress(redis)).toEqual({ url: redis.REDIS_URL, tls: {} });
    const url = `${postgres.DATABASE_URL}?sslmode=verify-full&application_name=a`;
    expect(postgresAddress({ ...postgres, DATABASE_URL: url })).toEqual({
      url: `${postgres.DATABASE_URL}?application_name=a`,
      tls: {},
    });
  });

  test('of a cluster is that of each node, with or without TLS for all, and for one virtual host', () => {
    const url = 'amqps://u:p,q@a:5671, amqps://u:p@b';
    expect(brokerAddress({ ...broker, AMQP_URL: url })).toEqual({ url, tls: {} });
    expect(placeOf(url)).toBe('a:5671, b');
    for (const other of ['amqp://u:p@b', 'amqps://u:p@b/other']) {
      const address = () => brokerAddress({ ...broker, AMQP_URL: `amqps://u:p@a,${other}` });
      expect(address).toThrow('not of one cluster');
    }
  });

  test('of Postgres may name several hosts, and ask for the one that takes writes', () => {
    const url = 'postgres://u:p,q@a:5432,b/db?target_session_attrs=read-write';
    const asked = { ...postgres, DATABASE_URL: `${url}&sslmode=verify-full` };
    const each = ['a:5432', 'b'].map((host) => `postgres://u:p,q@${host}/db?target_session_attrs=read-write`);
    expect(postgresAddress(asked)).toEqual({ url: each.join(), tls: {} });
    expect(placeOf(url)).toBe('a:5432, b');
    const whole = ['postgres://u:p@a/db?sslmode=verify-full', 'postgres://u:p@b/db?sslmode=verify-full'];
    expect(postgresAddress({ ...postgres, DATABASE_URL: whole.join() })).toEqual({
      url: 'postgres://u:p@a/db,postgres://u:p@b/db',
      tls: {},
    });
  });

  test('of Redis may name sentinels, with TLS to all or to none', () => {
    const url = 'redis+sentinel://:p@a:26379,b/main';
    expect(redisAddress({ ...redis, REDIS_URL: url })).toEqual({ url });
    const encrypted = url.replace('redis', 'rediss');
    expect(redisAddress({ ...redis, REDIS_URL: encrypted })).toEqual({ url: encrypted, tls: {} });
  });

  test.each([
    ['read-write', () => postgresAddress({ ...postgres, DATABASE_URL: 'postgres://a,b/db?target_session_attrs=any' })],
    ['differ in more', () => postgresAddress({ ...postgres, DATABASE_URL: 'postgres://a/db,postgres://b/other' })],
    ['differ in more', () => redisAddress({ ...redis, REDIS_URL: 'redis://a,redis+sentinel://b/main' })],
    ['names several servers', () => redisAddress({ ...redis, REDIS_URL: 'redis://a,b' })],
    ['number of the database', () => redisAddress({ ...redis, REDIS_URL: 'redis+sentinel://a/main/abc' })],
    ['percent-encoded', () => redisAddress({ ...redis, REDIS_URL: 'redis+sentinel://:50%@a/main' })],
    ['names no master', () => redisAddress({ ...redis, REDIS_URL: 'redis+sentinel://a,b' })],
  ])('leads to one server, or is refused: %s', (problem, read) => {
    expect(read).toThrow(problem);
  });

  test.each([
    [brokerAddress({ ...broker, AMQP_URL: 'amqp://host' })],
    [redisAddress({ ...redis, REDIS_URL: 'redis://host' })],
    [postgresAddress(postgres)],
    [postgresAddress({ ...postgres, DATABASE_URL: `${postgres.DATABASE_URL}?sslmode=disable` })],
  ])('is plain where nobody asks', (address) => {
    expect(address).not.toHaveProperty('tls');
  });

  test('comes with the authorities that are given', () => {
    expect(brokerAddress({ ...broker, TLS_CA: 'ca' }).tls).toEqual({ ca: 'ca' });
  });

  test('does not come with the certificate of another key', () => {
    const [certificate = ''] = rootCertificates;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const given = { TLS_CERTIFICATE: certificate, TLS_KEY: key };
    expect(() => redisAddress({ ...redis, ...given })).toThrow('TLS_KEY: is not the key of TLS_CERTIFICATE');
  });

  test('does not let pass a key without its certificate', () => {
    expect(() => brokerAddress({ ...broker, TLS_KEY: 'key' })).toThrow('TLS_CERTIFICATE, TLS_KEY: one is of no use');
  });

  test.each([
    ['sslmode=require', 'verify-full'],
    ['sslmode=no-verify', 'verify-full'],
    ['sslmode=verify-ca', 'verify-full'],
    ['ssl=true', '"ssl"'],
    ['sslmode=verify-full&uselibpqcompat=true', '"uselibpqcompat"'],
    ['sslmode=verify-full&sslrootcert=/ca.pem', 'TLS_CA_FILE'],
  ])('does not let Postgres be whoever answers: ?%s', (query, advice) => {
    expect(() => postgresAddress({ ...postgres, DATABASE_URL: `${postgres.DATABASE_URL}?${query}` })).toThrow(advice);
  });
});

describe('settings for TLS', () => {
  const plain = { AMQP_URL: 'amqp://host', DATABASE_URL: 'postgres://host/db', REDIS_URL: 'redis://host' };

  test.each(['TLS_CA', 'TLS_CERTIFICATE'])('are refused where no connection is encrypted: %s', (name) => {
    expect(() => requireUseOfTls({ ...plain, [name]: 'pem' })).toThrow(`${name}: is set, but nothing`);
    expect(() => requireUseOfTls(plain)).not.toThrow();
  });

  test.each([
    { AMQP_URL: 'amqps://host' },
    { AMQP_URL: undefined, ADMIN_AMQP_URL: 'AMQPS://host' },
    { DATABASE_URL: 'postgres://host/db?application_name=a&sslmode=verify-full' },
    { REDIS_URL: 'rediss+sentinel://host/main' },
  ])('pass where one is: %j', (url) => {
    expect(() => requireUseOfTls({ ...plain, ...url, TLS_CA: 'pem' })).not.toThrow();
  });

  test.each(['AMQP_URL', 'REDIS_URL'])("pass where a server is another process's, which may encrypt: %s", (name) => {
    expect(() => requireUseOfTls({ ...plain, [name]: undefined, TLS_CA: 'pem' })).not.toThrow();
  });
});
