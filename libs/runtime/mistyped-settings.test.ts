import { describe, expect, test } from '@jest/globals';
import { mistypedSettings } from './environment.ts';

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
