import { describe, expect, test } from '@jest/globals';
import { permissions } from '@waybell/line/line-topology';
import { withConstants } from '@waybell/runtime/gone-settings';
import { services } from './services.ts';

test('every service that uses RabbitMQ has permissions there', () => {
  const names = services.filter(({ needs }) => needs.includes('AMQP_URL')).map(({ name }) => name);
  expect(Object.keys(permissions)).toEqual(expect.arrayContaining(names));
});

describe('a setting', () => {
  const ADDRESSES = {
    AMQP_URL: 'amqp://a',
    DATABASE_URL: 'postgres://a',
    REDIS_URL: 'redis://a',
    SECRET_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  };
  const ofEach = {
    CONFIRM_TIMEOUT: '101ms',
    UNCONFIRMED_LIMIT: '102',
    DATABASE_POOL_SIZE: '103',
    DATABASE_TIMEOUT: '104ms',
  };
  const places = {
    broker: { confirmTimeoutMs: 101, unconfirmedLimit: 102 },
    postgres: { poolSize: 103, timeoutMs: 104 },
    clockLimitMs: 105,
  };

  /** Each value is there once, so that no setting stands in for another. */
  test.each<[service: string, settings: Record<string, string>, config: object]>([
    [
      'event-router',
      {
        ROUTE_HELD: '1',
        ROUTE_HELD_BYTES: '2',
        ROUTE_PAUSE_DEPTH: '3',
        REMEMBER_EVENTS: '4ms',
        EVENT_MAX_SIZE: '5',
        EVENT_MAX_DEPTH: '6',
        WAITING_ALL_MAX_BYTES: '7',
        REDIS_TIMEOUT: '8ms',
      },
      {
        inHandLimit: { messages: 1, bytes: 2 },
        pauseDepth: 3,
        rememberMs: 4,
        eventLimits: { maxBytes: 5, maxDepth: 6 },
        waiting: { allBytes: 7 },
        redis: { timeoutMs: 8 },
      },
    ],
    [
      'deliverer',
      {
        DELIVER_HELD: '64',
        DELIVER_HELD_BYTES: '18',
        DELIVER_SLOTS: '50',
        DELIVER_WINDOW: '3',
        DELIVER_UNPROVEN_PERCENT: '20',
        DELIVER_SLOW: '6ms',
        DELIVER_PATIENCE: '7ms',
        DELIVER_ENDPOINTS: '8',
        DELIVERY_MAX_AGE: '11ms',
        REMEMBER_ATTEMPTS: '12ms',
        LAST_KNOWN_MAX_AGE: '13ms',
        LAST_KNOWN_ENTRIES: '14',
        SHIPPER_RETRY_DELAYS: '15ms',
        CARRIER_RETRY_DELAYS: '16ms,17ms',
        CONNECT_LIMIT: '19ms',
        KEEP_ALIVE: '20ms',
        SHIPPER_HANDOVER_LIMIT: '21ms',
        SHIPPER_RESPONSE_LIMIT: '22ms',
        CARRIER_RESPONSE_LIMIT: '23ms',
        WAITING_MAX_ROWS: '24',
        WAITING_MAX_BYTES: '25',
        WAITING_ALL_MAX_BYTES: '26',
        REDIS_TIMEOUT: '27ms',
      },
      {
        inHandLimit: { messages: 64, bytes: 18 },
        flow: {
          slots: 50,
          shares: { hung: 0.1, new: 0.2, slow: 0.5 },
          maxSize: 3,
          slowMs: 6,
          maxWaitMs: 7,
          maxInHandEach: 4,
          maxInHand: 100,
          maxEndpoints: 8,
        },
        maxAgeMs: 11,
        rememberMs: 12,
        lastKnown: { maxAgeMs: 13, maxEntries: 14 },
        schedule: { shipper: [15], carrier: [16, 17] },
        endpoints: {
          connectTimeoutMs: 19,
          keepAliveMs: 20,
          limits: { shipper: { handoverMs: 21, responseMs: 22 }, carrier: { responseMs: 23 } },
        },
        waiting: { ofAccount: { rows: 24, bytes: 25 }, allBytes: 26, inHandLimit: { messages: 32, bytes: 9 } },
        redis: { timeoutMs: 27 },
      },
    ],
    [
      'location-tracker',
      {
        TRACK_HELD: '1',
        TRACK_HELD_BYTES: '2',
        GPS_DISTANCE: '3',
        GPS_SILENCE: '4ms',
        GPS_SWEEP_INTERVAL: '5ms',
        GPS_CLAIM: '6ms',
        GPS_REMEMBER: '7ms',
        EVENT_MAX_SIZE: '8',
        EVENT_MAX_DEPTH: '9',
        GEOCODER_URL: 'http://a/',
        GEOCODER_LIMIT: '10ms',
        GEOCODER_RATE: '11',
        GEOCODER_CACHE: '12',
      },
      {
        inHandLimit: { messages: 1, bytes: 2 },
        rules: { distanceM: 3, silenceMs: 4 },
        intervalMs: 5,
        claimMs: 6,
        rememberMs: 7,
        eventLimits: { maxBytes: 8, maxDepth: 9 },
        geocoder: { url: 'http://a', limitMs: 10, perSecond: 11, cacheEntries: 12 },
      },
    ],
    [
      'deactivator',
      {
        DEACTIVATE_HELD: '1',
        DEACTIVATE_HELD_BYTES: '2',
        DEACTIVATION_CLAIM: '3ms',
        DEACTIVATION_SWEEP_INTERVAL: '4ms',
        DEACTIVATE_ON_EXHAUSTED: 'carrier',
        DEACTIVATE_ON_WINDOW: 'shipper',
        END_ON_GONE: 'carrier,shipper',
        DEACTIVATION_WINDOW: '5ms',
        DEACTIVATION_SURGE_MANY: '6',
        DEACTIVATION_SURGE_FEW: '7',
      },
      {
        inHandLimit: { messages: 1, bytes: 2 },
        claimMs: 3,
        sweepIntervalMs: 4,
        endOnGone: ['carrier', 'shipper'],
        rules: { offOnExhausted: ['carrier'], offOnWindow: ['shipper'], windowMs: 5, surge: { many: 6, few: 7 } },
      },
    ],
    [
      'delivery-log',
      {
        LOG_HELD: '1',
        LOG_HELD_BYTES: '2',
        LOG_RETENTION: '3d',
        LOG_BODIES_RETENTION: '25h',
        LOG_SEND_INTERVAL: '5ms',
        LOG_SEND_CLAIM: '6ms',
      },
      {
        inHandLimit: { messages: 1, bytes: 2 },
        retention: { days: 3, bodyDays: 2 },
        sending: { intervalMs: 5, claimMs: 6 },
      },
    ],
  ])('of %s reaches its place', async (name, settings, config) => {
    const service = services.find((each) => each.name === name);
    const read = (await service?.config())?.readConfig;
    const env = { ...ADDRESSES, ...ofEach, CLOCK_LIMIT: '105ms', ...settings };
    expect(read?.(withConstants(env))).toMatchObject({ ...places, ...config });
  });
});
