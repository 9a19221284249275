import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { JsonNumber } from '@waybell/events/json';

export type GeocodedPlace = { address: string; latitude: JsonNumber; longitude: JsonNumber };

/** Finds the address of a place: upstream's, else the geocoder's, else an empty one. Never rejects. */
export type FindAddress = (place: GeocodedPlace) => Promise<string>;

export type GeocoderOptions = {
  /** No slash at the end. */
  url: string;
  /** Limit of the whole call. */
  limitMs: number;
  perSecond: number;
  cacheEntries: number;
  userAgent: string;
};

/** The source of an address, or why there is none: a closed list. */
export type AddressResult = 'given' | 'cached' | 'found' | 'nothing_there' | 'limited' | 'failed' | 'not_asked';
export const ADDRESS_RESULTS: readonly AddressResult[] = [
  'given',
  'cached',
  'found',
  'nothing_there',
  'limited',
  'failed',
  'not_asked',
];

/** Positions that agree in ten-thousandths of a degree, eleven metres, share an address. */
const CACHED_DIGITS = 4;
const LARGEST_ANSWER = 64 * 1024;

export function findAddressWith(
  options: GeocoderOptions | undefined,
  count: (result: AddressResult) => void,
): FindAddress {
  const counted = (result: AddressResult, address: string) => {
    count(result);
    return address;
  };
  const ask = options === undefined ? undefined : geocoder(options);
  return async ({ address, latitude, longitude }) => {
    if (address !== '') return counted('given', address);
    if (ask === undefined) return counted('not_asked', '');
    const [north, east] = [latitude, longitude].map(({ text }) => Number(text).toFixed(CACHED_DIGITS));
    const answer = await ask(`lat=${north}&lon=${east}`);
    return counted(answer.result, answer.address);
  };
}

type GeocoderAnswer = { result: AddressResult; address: string };

function geocoder(options: GeocoderOptions): (query: string) => Promise<GeocoderAnswer> {
  const known = new LRUCache<string, Promise<GeocoderAnswer>>({ max: options.cacheEntries });
  const mayAsk = atMost(options.perSecond);
  return async (query) => {
    const asked = known.get(query);
    // A caller that joins a pending request waits no longer than the first caller.
    if (asked !== undefined) return asked.then(({ result, address }) => ({ result: cached(result), address }));
    const waitMs = mayAsk(options.limitMs);
    if (waitMs === undefined) return { result: 'limited', address: '' };
    const answer = askFor(query, { ...options, waitMs });
    known.set(query, answer);
    // The geocoder may be back the next time.
    if ((await answer).result === 'failed') known.delete(query);
    return answer;
  };
}

const cached = (result: AddressResult): AddressResult => (result === 'found' ? 'cached' : result);

/**
 * Returns the milliseconds until the next request is allowed. Returns undefined, and reserves nothing, if that exceeds `limitMs`.
 */
function atMost(perSecond: number): (limitMs: number) => number | undefined {
  let nextAt = 0;
  return (limitMs) => {
    const now = performance.now();
    const allowedAt = Math.max(now, nextAt);
    if (allowedAt - now >= limitMs) return undefined;
    nextAt = allowedAt + 1_000 / perSecond;
    return allowedAt - now;
  };
}

async function askFor(query: string, options: GeocoderOptions & { waitMs: number }): Promise<GeocoderAnswer> {
  const { url, limitMs, waitMs, userAgent } = options;
  try {
    if (waitMs > 0) await sleep(waitMs);
    const response = await fetch(`${url}/reverse?format=jsonv2&${query}`, {
      headers: { 'user-agent': userAgent, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(Math.ceil(limitMs - waitMs)),
    });
    const text = await textOf(response);
    if (!response.ok) return { result: 'failed', address: '' };
    const address = displayName(JSON.parse(text));
    return { result: address === '' ? 'nothing_there' : 'found', address };
  } catch {
    // The geocoder is away, too slow, or none: the position is announced without an address.
    return { result: 'failed', address: '' };
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new Error(`more than ${LARGEST_ANSWER} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Nominatim answers 200 with `error` if there is no address, as at sea. */
function displayName(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null || !('display_name' in answer)) return '';
  return typeof answer.display_name === 'string' ? answer.display_name : '';
}
