import { constant, count, str, wait } from '@waybell/runtime/environment';
import type { GeocoderOptions } from './find-address.ts';
import { USER_AGENT } from '@waybell/runtime/callback-terms';

export const geocoderSettings = {
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

type GeocoderSettings = { GEOCODER_URL: string } & Record<
  'GEOCODER_LIMIT' | 'GEOCODER_RATE' | 'GEOCODER_CACHE',
  number
>;

/** Throws if the URL is invalid. Returns undefined if there is no geocoder. */
export function readGeocoder(settings: GeocoderSettings): GeocoderOptions | undefined {
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
