import { describe, expect, test } from '@jest/globals';
import { mistypedSettings } from '@waybell/runtime/environment';
import { removeSettings, describeEnvironment } from './describe-environment.ts';
import { READERS, settingNames } from './settings.ts';

const tell = (env: NodeJS.ProcessEnv, url?: string) =>
  describeEnvironment({
    settings: settingNames,
    servers: url === undefined ? [] : [{ variable: 'AMQP_URL', url }],
    env,
  });

describe('tellEnvironment', () => {
  test('names each server and setting that is followed, without a secret, and what looks like a setting', () => {
    const url = 'amqp://ann:s3cret@rabbitmq:5671/line?password=s3cret';
    const env = {
      AMQP_URL: url,
      SECRET_KEYS: 's3cret',
      CARRIER_RETRY_DELAY: '1s',
      LOG_LEVEL: 'debug',
      WAYBELL_HOME: '/x',
    };
    expect(tell(env, url)).toEqual([
      'uses the server that AMQP_URL names: amqp://ann@rabbitmq:5671/line',
      'follows the environment in LOG_LEVEL, SECRET_KEYS, WAYBELL_HOME',
      'warning: CARRIER_RETRY_DELAY is not a setting: is CARRIER_RETRY_DELAYS meant?',
    ]);
  });

  test('says nothing in an environment such as everybody has', () => {
    const names = [
      'PATH HOME USER LOGNAME SHELL TERM LANG LC_ALL PWD OLDPWD HOSTNAME EDITOR TZ DISPLAY SSH_AUTH_SOCK CI NODE_ENV NODE_OPTIONS',
      'PGHOST PGUSER PGPASSWORD DATABASE_HOST DATABASE_PORT DATABASE_USER DATABASE_NAME POSTGRES_URL REDIS_HOST REDIS_PORT REDIS_DB',
      'RABBITMQ_URL AMQP_HOST AMQP_PORT AMQP_USER LOG_FILE LOG_DIR LOG_PATH LOG_FORMAT HTTP_PROXY HTTPS_PROXY NO_PROXY GITHUB_TOKEN',
      'KUBERNETES_SERVICE_HOST KUBERNETES_PORT_443_TCP_ADDR REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT_6379_TCP RABBITMQ_PORT',
      'DELIVERER_SERVICE_PORT DEACTIVATOR_PORT GEOCODER_PORT PROXY_PORT SECRET_KEY_BASE TMPDIR XDG_CACHE_HOME API_URL ADMIN_URL METRICS_URLS',
    ].flatMap((line) => line.split(' '));
    expect(tell(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
  });
});

describe('a service that finds the settings of all others in its environment', () => {
  test.each(Object.entries(READERS))('takes none of them for a mistyped one: %s', (_reader, specs) => {
    const env = Object.fromEntries(settingNames.flatMap((name) => [name, `${name}_FILE`]).map((name) => [name, 'x']));
    for (const name of Object.keys(specs)) delete env[name];
    for (const name of Object.keys(specs)) delete env[`${name}_FILE`];
    expect(mistypedSettings(Object.keys(specs), env)).toEqual([]);
  });
});

describe('takeOutSettings', () => {
  test('leaves what is no setting', () => {
    const env = { PATH: '/bin', LOG_LEVEL: 'debug', SECRET_KEYS_FILE: '/keys', TEST_SEED: '2', WAYBELL_HOME: '/x' };
    expect(removeSettings(settingNames, env)).toEqual(['LOG_LEVEL', 'SECRET_KEYS_FILE', 'WAYBELL_HOME']);
    expect(env).toEqual({ PATH: '/bin', TEST_SEED: '2' });
  });
});
