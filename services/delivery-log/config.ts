import { DAY_MS } from '@waybell/delivery-log/write/partitions';
import { bytes, constant, count, duration, readEnvironment, wait } from '@waybell/runtime/environment';
import { brokerConfig, postgresConfig, processConfig } from '@waybell/runtime/process-config';
import { brokerSettings, postgresSettings, processSettings } from '@waybell/runtime/settings';

export const deliveryLogSettings = {
  ...processSettings,
  ...brokerSettings,
  ...postgresSettings,
  LOG_HELD: constant(
    count({
      per: 'process',
      default: 200,
      desc: 'batches of outcomes held, and written down together, at most',
    }),
  ),
  LOG_HELD_BYTES: constant(
    bytes({ per: 'process', default: 8 * 2 ** 20, desc: 'what they may weigh together, decompressed' }),
  ),
  LOG_RETENTION: duration({
    default: 30 * DAY_MS,
    desc: 'how long events, deliveries and attempts are kept; whole days',
  }),
  LOG_BODIES_RETENTION: duration({
    default: 7 * DAY_MS,
    desc: 'how long bodies are kept, and so how long something can be sent again; whole days',
  }),
  LOG_SEND_INTERVAL: constant(wait({ default: 500, desc: 'how often it is looked for what is to be sent by hand' })),
  LOG_SEND_CLAIM: constant(
    duration({
      default: 30_000,
      desc: 'after this long without a confirm, another replica sends it by hand',
    }),
  ),
};

export type Config = ReturnType<typeof readConfig>;

/** Throws if bodies would be kept longer than the records they belong to. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(deliveryLogSettings, env);
  const retention = {
    days: Math.ceil(settings.LOG_RETENTION / DAY_MS),
    bodyDays: Math.ceil(settings.LOG_BODIES_RETENTION / DAY_MS),
  };
  if (retention.bodyDays > retention.days)
    throw new Error('LOG_BODIES_RETENTION: must not be longer than LOG_RETENTION');
  return {
    ...processConfig(settings),
    ...brokerConfig(settings),
    ...postgresConfig(settings),
    inHandLimit: { messages: settings.LOG_HELD, bytes: settings.LOG_HELD_BYTES },
    retention,
    sending: { intervalMs: settings.LOG_SEND_INTERVAL, claimMs: settings.LOG_SEND_CLAIM },
  };
}
