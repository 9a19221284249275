import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { withConstants } from '@waybell/runtime/gone-settings';
import { readConfig } from './config.ts';

const env = {
  DATABASE_URL: 'postgres://db/waybell',
  REDIS_URL: 'redis://redis',
  SECRET_KEYS: `a:${randomBytes(32).toString('base64')}`,
};

describe('readConfig', () => {
  test('needs only the servers and the keys', () => {
    const config = readConfig(env);
    expect(config.interfaces).toEqual(['shipper', 'carrier']);
    expect(config.listen).toMatchObject({
      host: '0.0.0.0',
      port: 8080,
      connectionLimit: 5_000,
      idleTimeoutMs: 620_000,
    });
    expect(config.limits).toEqual({ requestsPerMinute: 600, failuresPerMinute: 30 });
    expect(config.callbackRules.isHttpAllowed).toBe(false);
  });

  test("has a port for operators only where one is named, and that on this machine's own address", () => {
    expect(readConfig(env).listenAdmin).toBeUndefined();
    expect(readConfig({ ...env, ADMIN_PORT: '8081' }).listenAdmin).toMatchObject({ host: '127.0.0.1', port: 8_081 });
    expect(readConfig({ ...env, ADMIN_PORT: '8081', ADMIN_HOST: '::' }).listenAdmin).toMatchObject({ host: '::' });
  });

  test('has a way to RabbitMQ for operators only where that is named, and knows the queues by the delays of the line', () => {
    expect(readConfig(env).operatorBroker).toBeUndefined();
    const config = readConfig({ ...env, ADMIN_AMQP_URL: 'amqp://rabbitmq', CARRIER_RETRY_DELAYS: '7s' });
    expect(config.operatorBroker).toMatchObject({ address: { url: 'amqp://rabbitmq' }, limitMs: 20_000 });
    expect(config.queues).toContain('waybell.retry.carrier.order.created.7s');
    expect(() => readConfig({ ...env, ADMIN_AMQP_URL: 'http://rabbitmq' })).toThrow(/ADMIN_AMQP_URL/);
  });

  test('tells of callbacks what settings say, and refuses source networks that receivers cannot see', () => {
    expect(readConfig(env).callbackTerms).toMatchObject({ networks: [], isHttpAllowed: false, eventBytes: 2 ** 20 });
    const set = { CALLBACK_SOURCE_NETWORKS: '8.8.8.0/28, 2a00:1450::7', CARRIER_RESPONSE_LIMIT: '5s' };
    expect(readConfig(withConstants({ ...env, ...set })).callbackTerms).toMatchObject({
      networks: ['8.8.8.0/28', '2a00:1450::7/128'],
      limits: { carrier: { responseMs: 5_000 } },
    });
    const inside = { CALLBACK_SOURCE_NETWORKS: '10.0.0.0/8' };
    expect(() => readConfig({ ...env, ...inside })).toThrow(/CALLBACK_SOURCE_NETWORKS: "10.0.0.0\/8" is, or holds/);
    const closed = readConfig({ ...env, ...inside, CALLBACK_ALLOW_NETWORKS: '10.20.0.0/16' });
    expect(closed.callbackTerms.networks).toEqual(['10.0.0.0/8']);
    expect(() => readConfig({ ...env, CALLBACK_SOURCE_NETWORKS: 'nat.example' })).toThrow(/"nat.example" is neither/);
  });

  test('has a listener live without its stream for a time', () => {
    expect(readConfig(withConstants({ ...env, LISTENER_LIFE: '5s' })).listening).toMatchObject({ lifeMs: 5_000 });
  });

  test('takes JWTs where an issuer is named, and then needs all that goes with it', () => {
    const jwt = {
      JWT_ISSUER: 'https://issuer.test',
      JWT_AUDIENCE: 'waybell',
      JWT_JWKS_URL: 'https://issuer.test/keys',
    };
    expect(readConfig(env).jwt).toBeUndefined();
    expect(readConfig({ ...env, ...jwt }).jwt).toMatchObject({
      issuer: 'https://issuer.test',
      leewayMs: 5_000,
      defaultScopes: [],
    });
    const bad = { JWT_ISSUER: 'https://issuer.test', JWT_JWKS_URL: 'http://issuer.test' };
    expect(() => readConfig({ ...env, ...bad })).toThrow(/JWT_AUDIENCE[^]*JWT_JWKS_URL/);
    const lenient = readConfig({ ...env, ...jwt, JWT_DEFAULT_SCOPES: 'webhooks:read' });
    expect(lenient.jwt).toMatchObject({ defaultScopes: ['webhooks:read'] });
    for (const word of ['admin', 'webhooks:read webhooks:write'])
      expect(() => readConfig({ ...env, ...jwt, JWT_DEFAULT_SCOPES: word })).toThrow(/"[^"]*" is not a scope of JWTs/);
    // With a shared secret, each process that checks tokens could make them.
    expect(lenient.jwt?.algorithms.filter((name) => !/^(RS|PS|ES|Ed)/.test(name))).toEqual([]);
  });

  test('names every bad setting at once', () => {
    const bad = {
      SECRET_KEYS: 'x',
      SERVE_INTERFACES: 'broker',
      CALLBACK_ALLOW_NETWORKS: '10.0.0.0',
      TRUSTED_PROXIES: 'me',
      PORT: 'x',
    };
    expect(() => readConfig(bad)).toThrow(
      /^(?=[^]*DATABASE_URL)(?=[^]*SECRET_KEYS)(?=[^]*SERVE_INTERFACES)(?=[^]*CALLBACK_ALLOW_NETWORKS)(?=[^]*TRUSTED_PROXIES)(?=[^]*PORT)/,
    );
  });
});
