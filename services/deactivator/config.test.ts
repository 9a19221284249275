import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.ts';

const env = { AMQP_URL: 'amqp://a', DATABASE_URL: 'postgres://a' };

describe('readConfig', () => {
  test('has both rules on for the carrier interface only', () => {
    expect(readConfig(env).rules).toEqual({
      offOnExhausted: ['carrier'],
      offOnWindow: ['carrier'],
      windowMs: 86_400_000,
      surge: { many: 20, few: 4 },
    });
  });

  test('takes other interfaces, several, and none', () => {
    const set = { DEACTIVATE_ON_EXHAUSTED: 'none', DEACTIVATE_ON_WINDOW: 'shipper,carrier' };
    expect(readConfig({ ...env, ...set }).rules).toMatchObject({
      offOnExhausted: [],
      offOnWindow: ['shipper', 'carrier'],
    });
  });

  test('refuses an interface that there is not, naming setting and ways', () => {
    expect(() => readConfig({ ...env, DEACTIVATE_ON_WINDOW: 'carriers' })).toThrow(
      'DEACTIVATE_ON_WINDOW: "carriers" is not an interface: write shipper, carrier, both with a comma, or none',
    );
  });
});
