import { USER_AGENT } from '@waybell/runtime/callback-terms';
import { bytes, constant, count, duration, readEnvironment, wait, str } from '@waybell/runtime/environment';
import { brokerConfig, postgresConfig, processConfig, redisConfig } from '@waybell/runtime/process-config';
import {
  brokerSettings,
  eventSettings,
  postgresSettings,
  processSettings,
  redisSettings,
} from '@waybell/runtime/settings';
import type { GeocoderOptions } from './find-address.ts';

const geocoderSettings = {
  GEOCODER_URL: str({
    default: '',
    desc: 'Nominatim-compatible geocoder, asked for addresses that upstream did not give; empty: none, and addresses stay empty',
    example: 'https://nominatim.example.com',
  }),
  GEOCODER_LIMIT: constant(wait({ default: 2_000, desc: 'how long a position may wait for its address, all in all' })),
  GEOCODER_RATE: count({
    per: 'process',
    default: 1,
    desc: 'questions to the geocoder a second: what it allows, divided by the number of trackers',
  }),
  GEOCODER_CACHE: constant(count({ per: 'process', default: 100_000, desc: 'addresses remembered' })),
};

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

type GeocoderSettings = { GEOCODER_URL: string } & Record<
  'GEOCODER_LIMIT' | 'GEOCODER_RATE' | 'GEOCODER_CACHE',
  number
>;

/** Throws if the URL is invalid. Returns undefined if there is no geocoder. */
function readGeocoder(settings: GeocoderSettings): GeocoderOptions | undefined {
  const url = settings.GEOCODER_URL;
  if (url === '') return undefined;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new Error(`GEOCODER_URL: "${url}" is not an http or https URL`);
  }
  return {
    url: url.endsWith('/') ? url.slice(0, -1) : url,
    limitMs: settings.GEOCODER_LIMIT,
    perSecond: settings.GEOCODER_RATE,
    cacheEntries: settings.GEOCODER_CACHE,
    userAgent: USER_AGENT,
  };
}
