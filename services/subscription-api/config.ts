import { bool, duration, port, readEnvironment, str, words } from '@waybell/runtime/environment';
import { readNetworks } from '@waybell/runtime/forbidden-address';
import { readKeyRing } from '@waybell/runtime/secrets';
import { postgresConfig, processConfig } from '@waybell/runtime/process-config';
import { postgresSettings, processSettings, secretSettings } from '@waybell/runtime/settings';
import { resolveWithin } from './callback-url.ts';

/** The settings of subscription-api. DATABASE_ROLE is best left empty: this service owns the tables. */
export const subscriptionApiSettings = {
  ...processSettings,
  ...postgresSettings,
  SECRET_KEYS: checked(secretSettings.SECRET_KEYS, readKeyRing),
  HOST: str({ default: '0.0.0.0', desc: 'address on which the REST interface listens' }),
  PORT: port({ default: 8080, desc: 'port of the REST interface' }),
  SERVE_INTERFACES: checked(
    words({ default: ['shipper', 'carrier'], desc: 'interfaces this process serves: shipper, carrier or both' }),
    readInterfaces,
  ),
  CALLBACK_ALLOW_HTTP: bool({ default: false, desc: 'whether a callback_url may also be http, not only https' }),
  CALLBACK_ALLOW_NETWORKS: checked(
    words({
      default: [],
      desc: 'networks that callbacks may reach although they are private or reserved, comma-separated',
      example: '10.20.0.0/16,fd00::/8',
    }),
    readNetworks,
  ),
  CALLBACK_RESOLVE_TIMEOUT: duration({
    default: 2_000,
    desc: 'how long a subscribe waits for the name in callback_url; what has not resolved by then is accepted',
  }),
};

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(subscriptionApiSettings, env);
  return {
    ...processConfig(settings),
    ...postgresConfig(settings),
    listen: { host: settings.HOST, port: settings.PORT },
    interfaces: settings.SERVE_INTERFACES,
    keyRing: readKeyRing(settings.SECRET_KEYS),
    callbackRules: {
      isHttpAllowed: settings.CALLBACK_ALLOW_HTTP,
      allowedNetworks: readNetworks(settings.CALLBACK_ALLOW_NETWORKS),
      resolve: resolveWithin(settings.CALLBACK_RESOLVE_TIMEOUT),
    },
  };
}

/** The same setting, refused already at the start where `check` throws. */
function checked<T, S extends { _parse: (text: string) => T }>(setting: S, check: (value: T) => unknown): S {
  return {
    ...setting,
    _parse: (text: string) => {
      const value = setting._parse(text);
      check(value);
      return value;
    },
  };
}

function readInterfaces(names: string[]): void {
  const unknown = names.find((name) => name !== 'shipper' && name !== 'carrier');
  if (unknown !== undefined || names.length === 0) throw new Error(`"${names.join()}" is not shipper, carrier or both`);
}
