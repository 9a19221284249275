import { describe, expect, test } from '@jest/globals';
import { brokerAddress, placeOf, postgresAddress, redisAddress } from './server-address.ts';

const broker = { AMQP_URL: 'amqps://u:p@host', AMQP_CA: '', AMQP_CERTIFICATE: '', AMQP_KEY: '' };
const postgres = {
  DATABASE_URL: 'postgres://u:p@host/db',
  DATABASE_CA: '',
  DATABASE_CERTIFICATE: '',
  DATABASE_KEY: '',
};
const redis = { REDIS_URL: 'rediss://host', REDIS_CA: '', REDIS_CERTIFICATE: '', REDIS_KEY: '' };

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

  test.each([
    [brokerAddress({ ...broker, AMQP_URL: 'amqp://host' })],
    [redisAddress({ ...redis, REDIS_URL: 'redis://host' })],
    [postgresAddress(postgres)],
    [postgresAddress({ ...postgres, DATABASE_URL: `${postgres.DATABASE_URL}?sslmode=disable` })],
  ])('is plain where nobody asks', (address) => {
    expect(address).not.toHaveProperty('tls');
  });

  test('comes with the authorities and the certificate that are given', () => {
    const given = { AMQP_CA: 'ca', AMQP_CERTIFICATE: 'cert', AMQP_KEY: 'key' };
    expect(brokerAddress({ ...broker, ...given }).tls).toEqual({ ca: 'ca', cert: 'cert', key: 'key' });
  });

  test.each([
    ['AMQP_CA: is set', () => brokerAddress({ ...broker, AMQP_URL: 'amqp://host', AMQP_CA: 'ca' })],
    ['REDIS_CA: is set', () => redisAddress({ ...redis, REDIS_URL: 'redis://host', REDIS_CA: 'ca' })],
    ['DATABASE_CA: is set', () => postgresAddress({ ...postgres, DATABASE_CA: 'ca' })],
    ['AMQP_CERTIFICATE, AMQP_KEY', () => brokerAddress({ ...broker, AMQP_KEY: 'key' })],
  ])('does not let pass what would be of no effect: %s', (problem, read) => {
    expect(read).toThrow(problem);
  });

  test.each([
    ['sslmode=require', 'verify-full'],
    ['sslmode=no-verify', 'verify-full'],
    ['sslmode=verify-ca', 'verify-full'],
    ['ssl=true', '"ssl"'],
    ['sslmode=verify-full&uselibpqcompat=true', '"uselibpqcompat"'],
    ['sslmode=verify-full&sslrootcert=/ca.pem', 'DATABASE_CA_FILE'],
  ])('does not let Postgres be whoever answers: ?%s', (query, advice) => {
    expect(() => postgresAddress({ ...postgres, DATABASE_URL: `${postgres.DATABASE_URL}?${query}` })).toThrow(advice);
  });
});

describe('placeOf', () => {
  test('names the host and the port, and no password', () => {
    expect(placeOf('amqps://user:secret@rabbitmq:5671/vhost')).toBe('rabbitmq:5671');
    expect(placeOf('nonsense')).toBeUndefined();
  });
});
