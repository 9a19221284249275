import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.ts';

const env = { DATABASE_URL: 'postgres://db/waybell', SECRET_KEYS: `a:${randomBytes(32).toString('base64')}` };

describe('readConfig', () => {
  test('needs only the database and the keys', () => {
    const config = readConfig(env);
    expect(config.interfaces).toEqual(['shipper', 'carrier']);
    expect(config.listen).toEqual({ host: '0.0.0.0', port: 8080 });
    expect(config.callbackRules.isHttpAllowed).toBe(false);
  });

  test('names every bad setting at once', () => {
    const bad = { SECRET_KEYS: 'x', SERVE_INTERFACES: 'broker', CALLBACK_ALLOW_NETWORKS: '10.0.0.0', PORT: 'x' };
    expect(() => readConfig(bad)).toThrow(
      /^(?=[^]*DATABASE_URL)(?=[^]*SECRET_KEYS)(?=[^]*SERVE_INTERFACES)(?=[^]*CALLBACK_ALLOW_NETWORKS)(?=[^]*PORT)/,
    );
  });
});
