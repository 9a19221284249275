import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { JsonNumber } from '@waybell/events/json';
import { readTimestamp } from '@waybell/events/timestamp';
import type { LocationReport } from './report.ts';
import { trackLocation } from './track-location.ts';

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

/** Returns action and vehicles of each event that a report becomes. */
async function eventsOf(activated: string[], moved: string[]): Promise<[action: string, vehicles: string[]][]> {
  const handle = trackLocation({
    seeReport: async () => ({ activated, moved }),
    findAddress: async () => '',
    onChanges: () => undefined,
    now: () => 0,
  });
  const outgoing = await handle(report);
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
