import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { JsonNumber } from '@waybell/events/json';
import { httpServer } from '@waybell/runtime/testing/server';
import { findAddressWith, type AddressResult, type GeocoderOptions, type GeocodedPlace } from './find-address.ts';

const aPlace = (what: Partial<GeocodedPlace> = {}): GeocodedPlace => ({
  address: '',
  latitude: new JsonNumber('52.52000'),
  longitude: new JsonNumber('13.4050'),
  ...what,
});

const sayName = (response: ServerResponse, name: string) => response.end(JSON.stringify({ display_name: name }));

type Answer = (response: ServerResponse) => void;

/** Starts a geocoder on a port of its own, and records its requests. */
async function aGeocoder(answer: Answer, options: Partial<GeocoderOptions> = {}) {
  const asked: string[] = [];
  const results: AddressResult[] = [];
  const server = await httpServer((request, response) => {
    asked.push(`${request.headers['user-agent']} ${request.url}`);
    answer(response);
  });
  const all = {
    url: server.url,
    limitMs: 60_000,
    perSecond: 1_000,
    cacheEntries: 10,
    userAgent: 'Waybell/0',
    ...options,
  };
  return { ...server, asked, results, find: findAddressWith(all, (result) => results.push(result)) };
}

describe('an address', () => {
  test('that upstream gave is not asked for', async () => {
    await using geocoder = await aGeocoder((response) => sayName(response, 'elsewhere'));
    expect(await geocoder.find(aPlace({ address: 'here' }))).toBe('here');
    expect(geocoder).toMatchObject({ asked: [], results: ['given'] });
  });

  test('is asked for as Nominatim wants it, and once for places next to each other', async () => {
    await using geocoder = await aGeocoder((response) => sayName(response, 'Alexanderplatz, Berlin'));
    const places = ['52.52001', '52.52004', '52.52'].map((text) => aPlace({ latitude: new JsonNumber(text) }));
    expect(await Promise.all(places.map(geocoder.find))).toEqual(places.map(() => 'Alexanderplatz, Berlin'));
    expect(geocoder.asked).toEqual(['Waybell/0 /reverse?format=jsonv2&lat=52.5200&lon=13.4050']);
    expect(geocoder.results.toSorted()).toEqual(['cached', 'cached', 'found']);
  });

  test('is empty where nobody lives', async () => {
    await using geocoder = await aGeocoder((response) => response.end('{"error":"Unable to geocode"}'));
    expect(await geocoder.find(aPlace())).toBe('');
    expect(geocoder.results).toEqual(['nothing_there']);
  });

  test('is empty where there is no geocoder', async () => {
    const results: AddressResult[] = [];
    expect(await findAddressWith(undefined, (result) => results.push(result))(aPlace())).toBe('');
    expect(results).toEqual(['not_asked']);
  });

  test.each<[what: string, answer: Answer]>([
    ['answers 500', (response) => response.writeHead(500).end('{"display_name":"no"}')],
    ['answers something else', (response) => response.end('<html>')],
    ['redirects', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['hangs up', (response) => response.destroy()],
    ['never ends', (response) => response.end(Buffer.alloc(2 ** 20, ' '))],
  ])('is empty, and asked for again the next time, where the geocoder %s', async (_what, answer) => {
    let answers = 0;
    await using geocoder = await aGeocoder((response) =>
      (answers += 1) === 1 ? answer(response) : void sayName(response, 'back'),
    );
    expect(await geocoder.find(aPlace())).toBe('');
    expect(await geocoder.find(aPlace())).toBe('back');
    expect(geocoder.results).toEqual(['failed', 'found']);
  });

  test('is not waited for beyond the limit', async () => {
    await using geocoder = await aGeocoder(() => undefined, { limitMs: 50 });
    expect(await geocoder.find(aPlace())).toBe('');
    expect(geocoder.results).toEqual(['failed']);
  });

  test('is asked for no more often than it may be', async () => {
    await using geocoder = await aGeocoder((response) => sayName(response, 'somewhere'), {
      // The next request would be beyond the limit.
      perSecond: 1 / 100,
    });
    const places = ['1', '2', '3'].map((text) => aPlace({ latitude: new JsonNumber(text) }));
    expect(await Promise.all(places.map(geocoder.find))).toEqual(['somewhere', '', '']);
    expect(geocoder.results.toSorted()).toEqual(['found', 'limited', 'limited']);
  });
});
