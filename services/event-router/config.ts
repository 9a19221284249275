import { bool, bytes, count, duration, readEnvironment } from '@waybell/runtime/environment';
import { brokerConfig, postgresConfig, processConfig, redisConfig } from '@waybell/runtime/process-config';
import { brokerSettings, postgresSettings, processSettings, redisSettings } from '@waybell/runtime/settings';

export const routerSettings = {
  ...processSettings,
  ...brokerSettings,
  ...postgresSettings,
  ...redisSettings,
  ROUTE_PREFETCH: count({ default: 256, desc: 'events held and handled at once' }),
  EVENT_MAX_SIZE: bytes({ default: 2 ** 20, desc: 'largest event, after decompression' }),
  EVENT_MAX_DEPTH: count({ default: 32, desc: 'deepest nesting of an event' }),
  REMEMBER_EVENTS: duration({ default: 86_400_000, desc: 'how long an event is recognised that was routed before' }),
  PASS_TRACEPARENT: bool({ default: false, desc: "send receivers the event's traceparent header" }),
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(routerSettings, env);
  return {
    ...processConfig(settings),
    ...brokerConfig(settings),
    ...postgresConfig(settings),
    ...redisConfig(settings),
    prefetch: settings.ROUTE_PREFETCH,
    eventLimits: { maxBytes: settings.EVENT_MAX_SIZE, maxDepth: settings.EVENT_MAX_DEPTH },
    rememberMs: settings.REMEMBER_EVENTS,
    passesTraceparent: settings.PASS_TRACEPARENT,
  };
}
