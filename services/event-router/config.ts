import { readWaiting, waitingSettings } from '@waybell/line/waiting-room/waiting-store';
import { bytes, constant, count, duration, readEnvironment } from '@waybell/runtime/environment';
import { brokerConfig, postgresConfig, processConfig, redisConfig } from '@waybell/runtime/process-config';
import {
  brokerSettings,
  eventSettings,
  postgresSettings,
  processSettings,
  redisSettings,
} from '@waybell/runtime/settings';

export const routerSettings = {
  ...processSettings,
  ...brokerSettings,
  ...postgresSettings,
  ...redisSettings,
  ...eventSettings,
  ROUTE_HELD: constant(count({ per: 'process', default: 1_024, desc: 'events held and handled at once' })),
  ROUTE_HELD_BYTES: constant(
    bytes({ per: 'process', default: 16 * 2 ** 20, desc: 'their total size, at most, decompressed' }),
  ),
  ROUTE_PAUSE_DEPTH: constant(
    count({
      per: 'line',
      default: 200_000,
      desc: 'deliveries waiting in all delivery queues at which the router pauses; it goes on at half of it',
    }),
  ),
  REMEMBER_EVENTS: constant(
    duration({ default: 86_400_000, desc: 'how long an event is recognised that was routed before' }),
  ),
  ...waitingSettings,
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(routerSettings, env);
  return {
    ...processConfig(settings),
    ...brokerConfig(settings),
    ...postgresConfig(settings),
    ...redisConfig(settings),
    inHandLimit: { messages: settings.ROUTE_HELD, bytes: settings.ROUTE_HELD_BYTES },
    waiting: readWaiting(settings),
    pauseDepth: settings.ROUTE_PAUSE_DEPTH,
    eventLimits: { maxBytes: settings.EVENT_MAX_SIZE, maxDepth: settings.EVENT_MAX_DEPTH },
    rememberMs: settings.REMEMBER_EVENTS,
  };
}
