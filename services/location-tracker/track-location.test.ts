import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { JsonNumber } from '@waybell/events/json';
import { readTimestamp } from '@waybell/events/timestamp';
import type { Outgoing } from '@waybell/line/messages';
import { causedAtOnce, causedBy, fatesOf } from '@waybell/line/testing/handled';
import type { LocationReport } from './report.ts';
import type { Changes } from './see-together.ts';
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

  const traced = {
    ...report,
    occurredAt: readTimestamp('2026-11-20T09:30:00.123456Z') ?? report.occurredAt,
    traceparent: '00-1',
  };
  const told = async (changes: Changes, what: Partial<LocationReport> = {}) => {
    const options = { seeReports: async () => [changes], findAddress: async () => 'Yard 1', now: () => 7 };
    return causedBy(handlerFor(options), { ...traced, ...what });
  };

  test('tells in its own time, with its trace, and digit for digit, what was switched on and what moved where', async () => {
    const caused = await told({ activated: ['a'], moved: ['b'] });
    const of = {
      interface: 'shipper',
      occurred_at: '2026-11-20T09:30:00.123456000Z',
      parties: { shipper: report.shipper },
    };
    const [on, moved] = [
      { ...of, action: 'vehicle.gps_activated', payload: { vehicle_guids: ['a'], gps_active: true } },
      { ...of, action: 'vehicle.driver_location_updated' },
    ];
    const payload = { vehicle_guids: ['b'], latitude: 1.5, longitude: 2, address: 'Yard 1' };
    const written = caused.flatMap((each) => (each.kind === 'publish' ? [each] : []));
    expect(written.map(({ body }) => JSON.parse(body.toString()))).toMatchObject([on, { ...moved, payload }]);
    expect(written[1]?.body.toString()).toContain('"latitude":1.50,"longitude":2,');
    expect(written).toMatchObject(
      [on, moved].map(({ action }) => ({
        exchange: 'waybell.events',
        routingKey: `shipper.${action}`,
        contentType: 'application/json',
        headers: { traceparent: '00-1' },
      })),
    );
  });

  test('is the same event whenever it is told, and another where anything differs', async () => {
    const changes = { activated: ['a'], moved: ['b'] };
    const guids = (caused: readonly Outgoing[]) =>
      caused.map((each) => (each.kind === 'publish' ? each.messageId : each.kind));
    const once = guids(await told(changes));
    expect(guids(await told(changes))).toEqual(once);
    const others = [{ guid: randomUUID() }, { latitude: new JsonNumber('1.51') }];
    const [ofAnother, elsewhere] = await Promise.all(others.map(async (other) => guids(await told(changes, other))));
    expect(elsewhere?.[0]).toBe(once[0]);
    expect(new Set([...once, ...(ofAnother ?? []), elsewhere?.[1]]).size).toBe(5);
  });

  test('that changes nothing is on record, with its vehicles', async () => {
    const vehicles = ['a', 'b'].map((guid) => ({ guid, isPickedUp: false }));
    expect(await told({ activated: [], moved: [] }, { vehicles })).toEqual([
      {
        kind: 'outcome',
        outcome: {
          kind: 'routed',
          event: report.guid,
          interface: 'shipper',
          action: 'vehicle.location_reported',
          at: 7,
          keys: [
            { kind: 'vehicle_guid', key: 'a' },
            { kind: 'vehicle_guid', key: 'b' },
          ],
          receivers: [report.shipper],
          deliveries: [],
          suppressed: [{ reason: 'position_absorbed' }],
        },
      },
    ]);
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
