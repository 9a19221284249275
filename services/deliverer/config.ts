import { count, duration, readEnvironment, words } from '@waybell/runtime/environment';
import { readNetworks } from '@waybell/runtime/forbidden-address';
import { readKeyRing } from '@waybell/runtime/secrets';
import {
  brokerSettings,
  lastKnownSettings,
  postgresSettings,
  processSettings,
  redisSettings,
  secretSettings,
} from '@waybell/runtime/settings';
import { brokerConfig, postgresConfig, processConfig, redisConfig } from '@waybell/runtime/process-config';
import { readSchedule, scheduleSettings } from '@waybell/line/schedule';
import { selectActions } from '@waybell/line/select-actions';
import manifest from './package.json' with { type: 'json' };

export const delivererSettings = {
  ...processSettings,
  ...brokerSettings,
  ...postgresSettings,
  ...lastKnownSettings,
  ...redisSettings,
  ...secretSettings,
  ...scheduleSettings,
  DELIVER_SLOTS: count({ default: 512, desc: 'requests under way at once' }),
  DELIVER_PREFETCH: count({ default: 256, desc: 'deliveries held at once, per action' }),
  DELIVER_ACTIONS: words({
    default: ['*'],
    desc: 'actions this process delivers, comma-separated: *, shipper.*, carrier.order.created',
  }),
  DELIVERY_MAX_AGE: duration({ default: 86_400_000, desc: 'older deliveries are exhausted without another attempt' }),
  SHIPPER_HANDOVER_LIMIT: duration({
    default: 10_000,
    desc: 'to connect and hand a shipper request over (shipper-webhooks, Limits: webhook request timeout)',
  }),
  SHIPPER_RESPONSE_LIMIT: duration({
    default: 60_000,
    desc: 'from the start of a shipper request to the status line (shipper-webhooks, Limits)',
  }),
  CARRIER_RESPONSE_LIMIT: duration({
    default: 3_000,
    desc: 'from the start of a carrier request to the status line (carrier-webhooks, Limits)',
  }),
  CONNECT_LIMIT: duration({ default: 10_000, desc: 'to look up a host, connect to it and agree on TLS' }),
  KEEP_ALIVE: duration({ default: 15_000, desc: 'idle connections to receivers are closed after this long' }),
  CALLBACK_ALLOW_NETWORKS: words({
    default: [],
    desc: 'networks that callbacks may reach although they are private, comma-separated: 10.1.0.0/16,fd00::/8',
  }),
  REMEMBER_ATTEMPTS: duration({ default: 3_600_000, desc: 'how long an attempt is recognised that was made before' }),
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(delivererSettings, env);
  return {
    ...processConfig(settings),
    ...brokerConfig(settings),
    ...postgresConfig(settings),
    ...redisConfig(settings),
    actionKeys: selectActions(settings.DELIVER_ACTIONS),
    slots: settings.DELIVER_SLOTS,
    prefetch: settings.DELIVER_PREFETCH,
    maxAgeMs: settings.DELIVERY_MAX_AGE,
    rememberMs: settings.REMEMBER_ATTEMPTS,
    lastKnown: { maxAgeMs: settings.LAST_KNOWN_MAX_AGE, maxEntries: settings.LAST_KNOWN_ENTRIES },
    schedule: readSchedule(settings),
    keyRing: readKeyRing(settings.SECRET_KEYS),
    endpoints: {
      allowed: readNetworks(settings.CALLBACK_ALLOW_NETWORKS),
      connectTimeoutMs: settings.CONNECT_LIMIT,
      keepAliveMs: settings.KEEP_ALIVE,
      userAgent: `Waybell/${manifest.version}`,
      limits: {
        shipper: { handoverMs: settings.SHIPPER_HANDOVER_LIMIT, responseMs: settings.SHIPPER_RESPONSE_LIMIT },
        carrier: { responseMs: settings.CARRIER_RESPONSE_LIMIT },
      },
    },
  };
}
