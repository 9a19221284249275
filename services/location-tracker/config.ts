import { bytes, constant, count, duration, readEnvironment, wait } from '@waybell/runtime/environment';
import { brokerConfig, postgresConfig, processConfig, redisConfig } from '@waybell/runtime/process-config';
import {
  brokerSettings,
  eventSettings,
  postgresSettings,
  processSettings,
  redisSettings,
} from '@waybell/runtime/settings';
import { geocoderSettings, readGeocoder } from './geocoder-settings.ts';

export const trackerSettings = {
  ...processSettings,
  ...brokerSettings,
  ...postgresSettings,
  ...redisSettings,
  ...eventSettings,
  ...geocoderSettings,
  TRACK_HELD: constant(count({ per: 'process', default: 1_000, desc: 'location reports held and handled at once' })),
  TRACK_HELD_BYTES: constant(
    bytes({ per: 'process', default: 4 * 2 ** 20, desc: 'their total size, at most, decompressed' }),
  ),
  GPS_DISTANCE: constant(
    count({
      per: 'vehicle',
      default: 1_000,
      desc: 'metres between the last position sent to a client and the next',
    }),
  ),
  GPS_SILENCE: constant(duration({ default: 3_600_000, desc: 'without a location for longer than this, GPS is off' })),
  GPS_SWEEP_INTERVAL: constant(wait({ default: 60_000, desc: 'how often silent vehicles are looked for' })),
  GPS_CLAIM: constant(
    duration({
      default: 30_000,
      desc: 'after this long without a confirm, another replica announces a group of silent vehicles again',
    }),
  ),
  GPS_REMEMBER: constant(
    duration({ default: 604_800_000, desc: 'how long a vehicle is remembered after its last report' }),
  ),
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(trackerSettings, env);
  return {
    ...processConfig(settings),
    ...brokerConfig(settings),
    ...postgresConfig(settings),
    ...redisConfig(settings),
    inHandLimit: { messages: settings.TRACK_HELD, bytes: settings.TRACK_HELD_BYTES },
    eventLimits: { maxBytes: settings.EVENT_MAX_SIZE, maxDepth: settings.EVENT_MAX_DEPTH },
    rules: { distanceM: settings.GPS_DISTANCE, silenceMs: settings.GPS_SILENCE },
    intervalMs: settings.GPS_SWEEP_INTERVAL,
    claimMs: settings.GPS_CLAIM,
    rememberMs: settings.GPS_REMEMBER,
    geocoder: readGeocoder(settings),
  };
}
