import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { JsonNumber } from '@waybell/events/json';
import { readTimestamp } from '@waybell/events/timestamp';
import type { Outgoing } from '@waybell/line/messages';
import { causedAtOnce, causedBy, fatesOf } from '@waybell/line/testing/handled';
import type { LocationReport } from './report.ts';
import { trackLocation, type TrackOptions } from './track-location.ts';

const report: LocationReport = {
  guid: randomUUID(),
  shipper: randomUUID(),
  vehicles: [],
  latitude: new JsonNumber('1.50'),
  longitude: new JsonNumber('2'),
  recordedAt: 0,
  occurredAt: readTimestamp('2026-11-20T09:30:00Z') ?? { second: '', nanoseconds: '' },
  address: '',
};

const handlerFor = (options: Pick<TrackOptions, 'seeReports'> & Partial<TrackOptions>) =>
  trackLocation({ findAddress: async () => '', onChanges: () => undefined, now: () => 0, ...options });

/** Returns action and vehicles of each event that a report becomes. */
async function eventsOf(activated: string[], moved: string[]): Promise<TrackedEvent[]> {
  return read(await causedBy(handlerFor({ seeReports: async () => [{ activated, moved }] }), report));
}

type TrackedEvent = [action: string, vehicles: string[]];

function read(outgoing: readonly Outgoing[]): TrackedEvent[] {
  return outgoing.map((each) => {
    if (each.kind !== 'publish') return [each.kind, []];
    // The tracker's own event, read back.
    const event = JSON.parse(each.body.toString()) as { action: string; payload: { vehicle_guids: string[] } };
    return [event.action, event.payload.vehicle_guids];
  });
}

describe('a report', () => {
  test.each([1_000, 1_001, 2_500])(
    'that switches on %s vehicles tells of 1,000 in one event at most',
    async (count) => {
      const vehicles = Array.from({ length: count }, () => randomUUID());
      const events = await eventsOf(vehicles, []);
      expect(events.map(([action]) => action)).toEqual(
        Array.from({ length: Math.ceil(count / 1_000) }, () => 'vehicle.gps_activated'),
      );
      expect(events.flatMap(([, told]) => told)).toEqual(vehicles);
      expect(Math.max(...events.map(([, told]) => told.length))).toBe(1_000);
    },
  );

  test('that changes nothing is on record', async () => {
    expect(await eventsOf([], [])).toEqual([['outcome', []]]);
  });
});

describe('reports that come together', () => {
  const [one, other, still] = [randomUUID(), randomUUID(), randomUUID()];
  const reports = [one, other, still].map((guid) => ({ ...report, guid }));

  test('are seen together, and each tells of its own changes', async () => {
    const seen: string[][] = [];
    const handle = handlerFor({
      seeReports: async (all) => {
        seen.push(all.map(({ guid }) => guid));
        return [
          { activated: [one], moved: [] },
          { activated: [], moved: [other] },
          { activated: [], moved: [] },
        ];
      },
    });
    const fates = await fatesOf(handle, reports);
    expect(seen).toEqual([[one, other, still]]);
    expect(fates.map((fate) => read(causedAtOnce(fate)))).toEqual([
      [['vehicle.gps_activated', [one]]],
      [['vehicle.driver_location_updated', [other]]],
      [['outcome', []]],
    ]);
  });

  test('fail alone where an address cannot be found, and all of them where none is seen', async () => {
    const error = new Error('a bug');
    const findAddress = async ({ address }: { address: string }) => {
      if (address === 'lost') throw error;
      return address;
    };
    const lost = reports.map((each) => (each.guid === other ? { ...each, address: 'lost' } : each));
    const seeReports = async () => reports.map(({ guid }) => ({ activated: [], moved: [guid] }));
    const fates = await fatesOf(handlerFor({ seeReports, findAddress }), lost);
    expect(fates.map(({ kind }) => kind)).toEqual(['done', 'failed', 'done']);
    await expect(fatesOf(handlerFor({ seeReports: () => Promise.reject(error) }), reports)).rejects.toBe(error);
  });
});
