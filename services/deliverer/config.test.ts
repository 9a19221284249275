import { describe, expect, test } from '@jest/globals';
import { heldAtFullRate } from '@waybell/line/testing/held-at-full-rate';
import { InvalidEnvironment } from '@waybell/runtime/environment';
import { withConstants } from '@waybell/runtime/gone-settings';
import { endingMs } from '@waybell/runtime/grace';
import { readConfig } from './config.ts';

const env = {
  AMQP_URL: 'amqp://a',
  DATABASE_URL: 'postgres://a',
  REDIS_URL: 'redis://a',
  SECRET_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
};

describe('readConfig', () => {
  test('has a grace time by default that is longer than any request', () => {
    const { process, endpoints } = readConfig(env);
    const { shipper, carrier } = endpoints.limits;
    expect(endingMs(process.SHUTDOWN_GRACE)).toBeGreaterThan(
      Math.max(shipper.handoverMs, shipper.responseMs, carrier.responseMs),
    );
  });

  test.each(['SHIPPER_HANDOVER_LIMIT', 'SHIPPER_RESPONSE_LIMIT', 'CARRIER_RESPONSE_LIMIT'])(
    'refuses a grace time that is over before %s, and says what to do',
    (limit) => {
      const read = () => readConfig(withConstants({ ...env, SHUTDOWN_GRACE: '2m', [limit]: '2m' }));
      expect(read).toThrow(InvalidEnvironment);
      expect(read).toThrow(`SHUTDOWN_GRACE: leaves requests 110s, not longer than ${limit}, 2m`);
      expect(read).toThrow(/Set more than 130s$/);
    },
  );

  test('names all that is wrong at once, and shows no key', () => {
    const read = () =>
      readConfig({ SECRET_KEYS: 'a:s3cret', DELIVER_ACTIONS: 'shipper.order.payed', DELIVER_SLOTS: '0' });
    expect(read).toThrow(InvalidEnvironment);
    expect(read).toThrow(
      /^(?!.*s3cret)(?=[^]*AMQP_URL: is not set: RabbitMQ)(?=[^]*SECRET_KEYS: a key)(?=[^]*DELIVER_ACTIONS)(?=[^]*DELIVER_SLOTS)/,
    );
  });

  test('takes a grace time that is short of the longest request in tests', () => {
    expect(
      readConfig(withConstants({ ...env, SHUTDOWN_GRACE: '1s', SHUTDOWN_ALLOW_SHORT: 'true' })).process.SHUTDOWN_GRACE,
    ).toBe(1_000);
  });

  test('takes a short grace time where requests are shorter', () => {
    const limits = { SHIPPER_HANDOVER_LIMIT: '900ms', SHIPPER_RESPONSE_LIMIT: '1s', CARRIER_RESPONSE_LIMIT: '500ms' };
    expect(readConfig(withConstants({ ...env, ...limits, SHUTDOWN_GRACE: '3s' })).process.SHUTDOWN_GRACE).toBe(3_000);
  });

  test('holds more than comes while records wait, at the full rate of a process', () => {
    expect(readConfig(env).inHandLimit.messages).toBeGreaterThan(heldAtFullRate());
  });

  test.each([
    ['20', 1_024],
    ['4096', 4_096],
  ])('holds enough for batches and slots, with %s of them', (slots, held) => {
    expect(readConfig({ ...env, DELIVER_SLOTS: slots }).inHandLimit.messages).toBe(held);
  });
});
