import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { locationsQueue } from '@waybell/line/topology';
import { closeServer, listen } from '@waybell/runtime/health';
import { clockSettings, HOUR_MS, rightClocks, setClocks } from '../testing/clocks.ts';
import { anEvent } from '../testing/event.ts';
import { aLocationReport } from '../testing/location-report.ts';
import { logOf } from '../testing/replica.ts';
import type { Client } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { receiver, settingsOf, stack } from './stand.ts';

const GPS_SETTINGS = { ...clockSettings, GPS_SILENCE: '1h', GPS_SWEEP_INTERVAL: '200ms' };
const ON = 'vehicle.gps_activated';
const OFF = 'vehicle.gps_deactivated';
const MOVED = 'vehicle.driver_location_updated';

/** Longer than the limit: an hour passes by the clock, so that a slow machine silences no vehicle. */
const AFTER_SILENCE_MS = 2 * HOUR_MS;

const geocoder = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://geocoder');
  response.end(JSON.stringify({ display_name: `somewhere near ${searchParams.get('lat')}` }));
});

/** A shipper that wants to hear all of its vehicles, and what it hears. */
async function aShipper(): Promise<{ client: Client; heard: () => Record<string, unknown>[] }> {
  const client = await stack.client('shipper');
  const path = `/${randomUUID()}`;
  for (const action of [ON, OFF, MOVED]) await client.subscribe(action, receiver.url(path));
  const heard = () =>
    receiver
      .at(path)
      .map(({ body }) => JSON.parse(body) as Record<string, unknown>)
      .toSorted((one, other) => inOrder(one).localeCompare(inOrder(other)));
  return { client, heard };
}

/** Returns a service's count of this series. */
async function countOf(service: string, series: RegExp): Promise<number> {
  const { health } = stack.stack.service(service).spec;
  const metrics = await (await fetch(`${health}/metrics`)).text();
  return Number(new RegExp(`${series.source}[^}]*\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
}
/** Looks for silent vehicles that ended because reports wait, or may wait. */
const BEHIND = /waybell_gps_sweep_duration_seconds_count\{[^}]*result="behind"/;
const absorbed = () => countOf('location-tracker', /waybell_outcomes_total\{[^}]*reason="position_absorbed"/);
const unwanted = () =>
  countOf('event-router', /waybell_outcomes_total\{interface="shipper"[^}]*reason="no_subscription"/);

// Callbacks come in no promised order; what a report caused has its time.
const inOrder = ({ action_date: date, action }: Record<string, unknown>) => `${String(date)} ${String(action)}`;

type Leg = { why: string; at: [latitude: number, longitude: number]; address?: string; hears?: string[] };

// A ten-thousandth of a degree of latitude is 11 m; of longitude 5.6 m at 60° north. Two vehicles, A and B; B is picked up
// from the leg that says so. A position is told when it is 1,000 m from the last one told, not from the last one reported.
const drive: Leg[] = [
  { why: 'starts', at: [60, 179.9], address: 'Yard 1', hears: ['A on', 'A moved'] },
  { why: 'jitter, 28 m', at: [60.0002, 179.9003] },
  { why: 'jitter the other way, 35 m', at: [59.9997, 179.8998] },
  { why: 'on the road, 556 m', at: [60, 179.91] },
  { why: 'B is picked up; 1,112 m', at: [60, 179.92], hears: ['B on', 'A,B moved'] },
  { why: 'nothing from the tunnel; its end, 2,780 m', at: [60, 179.97], hears: ['A,B moved'] },
  { why: 'before the antimeridian, 834 m', at: [60, 179.985] },
  { why: 'behind it, 1,946 m', at: [60, -179.995], hears: ['A,B moved'] },
  { why: 'back across it, 284 m', at: [60, 179.9999] },
  { why: 'a ferry later', at: [61.5, -175], address: 'Pier 7', hears: ['A,B moved'] },
  { why: 'jitter at the pier, 37 m', at: [61.5003, -175.0003] },
  { why: 'flown to 111 m from the pole', at: [89.999, -90], hears: ['A,B moved'] },
  { why: 'across the pole, 222 m', at: [89.999, 90] },
  { why: 'away from it, 667 m', at: [89.995, 90] },
  { why: 'and 1,112 m', at: [89.991, 90], hears: ['A,B moved'] },
];
const B_FROM = 4;

export function positions(): void {
  describe('of a vehicle', () => {
    let port: number;
    beforeAll(async () => {
      ({ port } = await listen(geocoder, { host: '127.0.0.1', port: 0 }));
    });
    settingsOf('location-tracker', () => ({
      ...GPS_SETTINGS,
      GEOCODER_URL: `http://127.0.0.1:${port}`,
      GEOCODER_RATE: '1000',
    }));
    afterEach(rightClocks);
    afterAll(async () => {
      geocoder.closeAllConnections();
      await closeServer(geocoder);
    });

    describe('a drive', () => {
      test('does not end in silence while RabbitMQ cannot say whether reports wait', async () => {
        const { client, heard } = await aShipper();
        const report = { shipper: client.account, vehicles: { [randomUUID()]: true }, latitude: 1, longitude: 2 };
        await stack.upstream.publish(aLocationReport({ ...report, recordedAt: wallClockMs() }));
        await until('it is told', () => heard().find(({ action }) => action === MOVED));
        const leader = (verb: 'suspend' | 'resume') =>
          stack.rabbitmqctl('eval', `sys:${verb}('${stack.vhost}_${locationsQueue}').`);
        const isOff = () => heard().some(({ action }) => action === OFF);
        const before = await countOf('location-tracker', BEHIND);
        await leader('suspend');
        try {
          setClocks(AFTER_SILENCE_MS);
          await until(
            'it was looked for silent vehicles',
            async () => isOff() || (await countOf('location-tracker', BEHIND)) >= before + 2,
          );
          expect(isOff()).toBe(false);
        } finally {
          await leader('resume');
        }
        await until('it is silent', isOff);
      });

      test('is told in few notifications, ends in silence, and begins again', async () => {
        const { client, heard } = await aShipper();
        const names = { A: randomUUID(), B: randomUUID() };
        const began = wallClockMs() - 1_000;
        const reports = drive.map(({ at: [latitude, longitude], address }, place) =>
          aLocationReport({
            shipper: client.account,
            vehicles: { [names.A]: true, [names.B]: place >= B_FROM },
            latitude,
            longitude,
            recordedAt: began + place,
            ...(address !== undefined && { address }),
          }),
        );
        for (const [place, report] of reports.entries()) {
          await stack.upstream.publish(report);
          // Sent again by an upstream that missed the confirm, and long after its time.
          if (place % 3 === 0) await stack.upstream.publish(report);
          const late = reports[place - 2];
          if (late !== undefined) await stack.upstream.publish({ ...late, guid: randomUUID() });
        }
        const told = drive.flatMap(({ hears = [], ...leg }, place) =>
          hears.map((words) => notification(words, { ...leg, names, occurredAt: began + place })),
        );
        await until('all is told', () => heard().length >= told.length);
        expect(heard()).toEqual(told.toSorted((one, other) => inOrder(one).localeCompare(inOrder(other))));
        setClocks(AFTER_SILENCE_MS);
        const silent = await until('it is silent', () => heard().find(({ action }) => action === OFF));
        expect(silent).toMatchObject({ gps_active: false, error_message: null });
        expect(vehiclesIn(silent).toSorted()).toEqual(Object.values(names).toSorted());
        await stack.upstream.publish(
          aLocationReport({
            shipper: client.account,
            vehicles: { [names.A]: true },
            latitude: 89.991,
            longitude: 90,
            recordedAt: wallClockMs() + AFTER_SILENCE_MS,
          }),
        );
        const again = await until('it is heard of again', () => heard()[told.length + 1]);
        expect(again).toMatchObject({ action: ON, vehicle_guids: [names.A], gps_active: true });
      });

      test('of an unknown account, or of nothing that is picked up, is told to no client, and counted', async () => {
        const { client, heard } = await aShipper();
        const before = [await absorbed(), await unwanted()];
        const place = { latitude: 1, longitude: 2 };
        const stranger = { shipper: randomUUID(), vehicles: { [randomUUID()]: true } };
        const unloaded = { shipper: client.account, vehicles: { [randomUUID()]: false } };
        for (const who of [stranger, unloaded]) {
          await stack.upstream.publish(aLocationReport({ ...who, ...place, recordedAt: wallClockMs() }));
        }
        await until('the unloaded is counted', async () => (await absorbed()) === Number(before[0]) + 1);
        // It is switched on, and has a place.
        await until('the stranger is counted', async () => (await unwanted()) === Number(before[1]) + 2);
        expect(heard()).toEqual([]);
      });
    });

    describe('a position that upstream publishes itself', () => {
      test('is sent as it is, however near to the last', async () => {
        const { client, heard } = await aShipper();
        const payload = { vehicle_guids: [randomUUID()], latitude: 1, longitude: 2, address: 'Yard 1' };
        for (const guid of [randomUUID(), randomUUID()]) {
          const parties = { shipper: client.account };
          await stack.upstream.publish(anEvent({ guid, interface: 'shipper', action: MOVED, parties, payload }));
        }
        await until('both are heard of', () => heard().length === 2);
        expect(heard()).toEqual([expect.objectContaining(payload), expect.objectContaining(payload)]);
      });
    });

    describe('a report that breaks the contract', () => {
      test('is rejected, naming the place', async () => {
        const report = aLocationReport({
          shipper: randomUUID(),
          vehicles: { [randomUUID()]: true },
          latitude: 90.1,
          longitude: 0,
          recordedAt: wallClockMs(),
        });
        await stack.upstream.publish(report);
        const rejected = await until('it is rejected', () =>
          logOf(stack.stack.service('location-tracker').spec).find(({ messageId }) => messageId === report.guid),
        );
        expect(rejected).toMatchObject({
          msg: 'message.rejected',
          reason: 'payload_invalid',
          detail: '/payload/latitude: must be <= 90',
        });
      });
    });
  });
}

type Telling = { names: Record<string, string>; at: Leg['at']; address?: string; occurredAt: number };

function notification(words: string, { names, at: [latitude, longitude], address, occurredAt }: Telling) {
  const [who = '', what] = words.split(' ');
  const common = {
    action_date: new Date(occurredAt).toISOString().replace('Z', '+0000'),
    error_message: null,
    vehicle_guids: who.split(',').map((name) => names[name]),
  };
  if (what === 'on') return { action: ON, ...common, gps_active: true };
  return { action: MOVED, ...common, latitude, longitude, address: address ?? `somewhere near ${latitude.toFixed(4)}` };
}

function vehiclesIn({ vehicle_guids: guids }: Record<string, unknown>): string[] {
  return Array.isArray(guids) ? guids.map(String) : [];
}
