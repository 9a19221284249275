import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { LocationReport } from './report.ts';
import type { Changes } from './see-together.ts';
import { Unavailable } from '@waybell/runtime/unavailable';
import { shared } from '@waybell/runtime/testing/shared';
import { aReport, HOUR_MS, START, Tracker, type SeeReport } from './testing/tracker.ts';

const tracker = shared(() => Tracker.start());

beforeEach(() => tracker.empty());
/** In their order, as they are told. */
const guids = (count: number) => Array.from({ length: count }, () => randomUUID()).toSorted();
const NOTHING = { activated: [], moved: [] };

describe('a report', () => {
  test('is remembered for as long as is set', async () => {
    await tracker.replica()(aReport());
    const [key = ''] = await tracker.redis.keys('*');
    const leftMs = await tracker.redis.pttl(key);
    expect(leftMs).toBeGreaterThan(23 * HOUR_MS);
    // oxlint-disable-next-line waybell/no-elapsed-time -- what is left of a day is no more than a day, however slow a machine is
    expect(leftMs).toBeLessThanOrEqual(24 * HOUR_MS);
  });

  test('switches on and moves all its vehicles that are picked up, together and once', async () => {
    const seeReport = tracker.replica();
    const [shipper, vehicles] = [randomUUID(), guids(3)];
    expect(await seeReport(aReport({ shipper, vehicles }))).toEqual({ activated: vehicles, moved: vehicles });
    const next = { shipper, vehicles, recordedAt: START + 1 };
    tracker.now = START + 1;
    expect(await seeReport(aReport(next))).toEqual(NOTHING);
    expect(await seeReport(aReport({ ...next, isPickedUp: false, recordedAt: START + 2 }))).toEqual(NOTHING);
  });

  test('says nothing of a vehicle that is not picked up, until it is', async () => {
    const seeReport = tracker.replica();
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    expect(await seeReport(aReport({ ...vehicle, isPickedUp: false }))).toEqual(NOTHING);
    tracker.now = START + 1;
    expect(await seeReport(aReport({ ...vehicle, recordedAt: START + 1 }))).toEqual({
      activated: vehicle.vehicles,
      moved: vehicle.vehicles,
    });
  });

  test('moves a vehicle by its way on the earth: a degree of longitude is short in the north', async () => {
    const seeReport = tracker.replica();
    const vehicle = { shipper: randomUUID(), vehicles: guids(1), latitude: 60 };
    // From 60° north, 13° east: 833 m and 1,111 m.
    const moved: number[] = [];
    for (const [place, longitude] of [13, 13.015, 13.02].entries()) {
      tracker.now = START + place;
      const changes = await seeReport(aReport({ ...vehicle, longitude, recordedAt: tracker.now }));
      moved.push(changes.moved.length);
    }
    expect(moved).toEqual([1, 0, 1]);
  });

  test('of a vehicle for another shipper is another matter', async () => {
    const seeReport = tracker.replica();
    const vehicles = guids(1);
    for (const shipper of guids(2)) {
      expect(await seeReport(aReport({ shipper, vehicles }))).toEqual({ activated: vehicles, moved: vehicles });
    }
  });

  test('that comes again is told the same, whichever replica reads it and whatever was forgotten', async () => {
    const report = aReport({ vehicles: guids(2) });
    const first = await tracker.replica()(report);
    expect(await tracker.replica()(report)).toEqual(first);
    await tracker.forgetAll();
    expect(await tracker.replica()(report)).toEqual(first);
    expect(first.activated).toHaveLength(2);
  });

  test('is told of what it changed where the process died between Postgres and Redis', async () => {
    const report = aReport();
    const away = tracker.replica({
      ...tracker.remembered,
      change: () => Promise.reject(new Unavailable('redis', async () => undefined)),
    });
    await expect(away(report)).rejects.toThrow(Unavailable);
    await expect(away(report)).rejects.toThrow(Unavailable);
    const [vehicle] = report.vehicles;
    expect(await tracker.replica()(report)).toEqual({ activated: [vehicle?.guid], moved: [vehicle?.guid] });
  });

  test('is told of what it changed where another replica wrote to Redis before it did', async () => {
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    const later = { ...vehicle, recordedAt: START - 1_000, isPickedUp: false };
    const slow = tracker.replica({
      ...tracker.remembered,
      async change(changes) {
        await tracker.replica()(aReport(later));
        return tracker.remembered.change(changes);
      },
    });
    const report = aReport(vehicle);
    expect(await slow(report)).toEqual({ activated: vehicle.vehicles, moved: vehicle.vehicles });
  });

  test('is told of what it changed where the process died, and a later one was read that needed not ask Postgres', async () => {
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    const loaded = { ...vehicle, isPickedUp: false };
    await tracker.replica()(aReport({ ...loaded, recordedAt: START - 2 }));
    const report = aReport({ ...vehicle, recordedAt: START - 1 });
    const dying = tracker.replica({ ...tracker.remembered, change: () => Promise.reject(new Error('killed')) });
    await expect(dying(report)).rejects.toThrow('killed');
    await tracker.replica()(aReport({ ...loaded, recordedAt: START }));
    expect(await tracker.replica()(report)).toEqual({ activated: vehicle.vehicles, moved: [] });
  });

  test('not picked up, seen beside one that switches on, leaves it on even if that is forgotten later', async () => {
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    const unloaded = { ...vehicle, isPickedUp: false };
    const slow = tracker.replica({
      ...tracker.remembered,
      async change(changes) {
        await tracker.replica()(aReport({ ...vehicle, recordedAt: START - 1 }));
        return tracker.remembered.change(changes);
      },
    });
    await slow(aReport(unloaded));
    tracker.now = START + HOUR_MS;
    await tracker.replica()(aReport({ ...unloaded, recordedAt: tracker.now }));
    await tracker.forgetAll();
    tracker.now += HOUR_MS / 2;
    await tracker.sweep();
    expect(tracker.announced).toEqual([]);
  });

  test('that comes late, or twice, changes nothing', async () => {
    const seeReport = tracker.replica();
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    await seeReport(aReport(vehicle));
    for (const recordedAt of [START, START - 1, START - 2 * HOUR_MS]) {
      expect(await seeReport(aReport({ ...vehicle, recordedAt, latitude: 10 }))).toEqual(NOTHING);
    }
  });
});

describe('reports that are seen in one batch', () => {
  const together = (seeReport: SeeReport, reports: readonly LocationReport[]) =>
    Promise.all(reports.map((report) => seeReport(report)));
  const activatedBy = (changes: readonly Changes[]) => changes.map(({ activated }) => activated.toSorted());

  test('tell by the first of a shipper of all its vehicles that are on now, and each of its own positions', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const vehicles = guids(5);
    const reports = [one, other, one, one, other].map((shipper, place) =>
      aReport({ shipper, vehicles: vehicles.slice(place, place + 1) }),
    );
    const changes = await together(tracker.replica(), reports);
    const ofShipper = (shipper: string) => vehicles.filter((_, place) => reports[place]?.shipper === shipper);
    expect(activatedBy(changes)).toEqual([ofShipper(one), ofShipper(other), [], [], []]);
    expect(changes.map(({ moved }) => moved)).toEqual(vehicles.map((vehicle) => [vehicle]));
  });

  test('leave out what was on before, and what is not picked up', async () => {
    const [shipper, vehicles] = [randomUUID(), guids(3)];
    const [on = '', parked = '', off = ''] = vehicles;
    await tracker.replica()(aReport({ shipper, vehicles: [on], recordedAt: START - 1 }));
    const changes = await together(tracker.replica(), [
      aReport({ shipper, vehicles: [on] }),
      aReport({ shipper, vehicles: [parked], isPickedUp: false }),
      aReport({ shipper, vehicles: [off] }),
    ]);
    expect(activatedBy(changes)).toEqual([[], [], [off]]);
  });

  test('that come again one by one, in any order, tell the same by the same report', async () => {
    const shipper = randomUUID();
    const reports = guids(4).map((vehicle) => aReport({ shipper, vehicles: [vehicle] }));
    const changes = await together(tracker.replica(), reports);
    expect(changes[0]?.activated).toHaveLength(4);
    for (const forget of [async () => undefined, () => tracker.forgetAll()]) {
      await forget();
      for (const [place, report] of [...reports.entries()].toReversed()) {
        const { activated } = await tracker.replica()(report);
        expect(activated).toEqual(changes[place]?.activated);
      }
    }
  });

  test('tell of all, also where the process died before it was remembered, and the first comes again alone', async () => {
    const shipper = randomUUID();
    const reports = guids(3).map((vehicle) => aReport({ shipper, vehicles: [vehicle] }));
    const dying = tracker.replica({ ...tracker.remembered, change: () => Promise.reject(new Error('killed')) });
    await expect(together(dying, reports)).rejects.toThrow('killed');
    const [owner] = reports;
    const { activated } = await tracker.replica()(owner ?? aReport());
    expect(activated.toSorted()).toEqual(
      reports.flatMap(({ vehicles }) => vehicles.map(({ guid }) => guid)).toSorted(),
    );
  });

  test('are told by another where the first was overtaken', async () => {
    const shipper = randomUUID();
    const reports = guids(3).map((vehicle) => aReport({ shipper, vehicles: [vehicle] }));
    const [overtaken = aReport(), next = aReport(), last = aReport()] = reports;
    let overtakes = true;
    const slow = tracker.replica(tracker.remembered, {
      ...tracker.activities,
      async change(changes) {
        if (overtakes && changes.length === 3) {
          overtakes = false;
          await tracker.replica()(aReport({ shipper, vehicles: overtaken.vehicles.map(({ guid }) => guid) }));
        }
        return tracker.activities.change(changes);
      },
    });
    const changes = await together(slow, reports);
    const both = [...next.vehicles, ...last.vehicles].map(({ guid }) => guid).toSorted();
    expect(activatedBy(changes)).toEqual([[], both, []]);
    expect((await tracker.replica()(next)).activated.toSorted()).toEqual(both);
  });

  test('by one guid for two shippers tell each shipper of its own', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const guid = randomUUID();
    const [vehicle = '', another = ''] = guids(2);
    const changes = await together(tracker.replica(), [
      aReport({ guid, shipper: one, vehicles: [vehicle] }),
      aReport({ guid, shipper: other, vehicles: [another] }),
    ]);
    expect(activatedBy(changes)).toEqual([[vehicle], [another]]);
  });
});

describe('two replicas', () => {
  test('that see many reports of the same vehicles at once switch each on once', async () => {
    const [one, other] = [tracker.replica(), tracker.replica()];
    const [shipper, vehicles] = [randomUUID(), guids(40)];
    const reports = Array.from({ length: 200 }, (_, place) =>
      aReport({ shipper, vehicles: vehicles.filter((_v, at) => (at + place) % 4 === 0), recordedAt: START - place }),
    );
    const changes = await Promise.all(
      reports.map((report, place) => (place < reports.length / 2 ? one : other)(report)),
    );
    const activated = changes.flatMap((each) => each.activated);
    expect(activated.toSorted()).toEqual(vehicles.toSorted());
    const again = await Promise.all(reports.map((report) => one(report)));
    expect(again.flatMap((each) => each.activated).toSorted()).toEqual(vehicles.toSorted());
  });

  test('tell each position once that is far enough from the last', async () => {
    const replicas = [tracker.replica(), tracker.replica()];
    const [shipper, vehicles] = [randomUUID(), guids(1)];
    const latitudes = [52.5, 52.503, 52.51, 52.513, 52.52];
    const moved: number[] = [];
    for (const [place, latitude] of latitudes.entries()) {
      tracker.now = START + place;
      const reported = { shipper, vehicles, latitude, recordedAt: START + place };
      const changes = await Promise.all(replicas.map((seeReport) => seeReport(aReport(reported))));
      moved.push(changes.flatMap((each) => each.moved).length);
    }
    expect(moved).toEqual([1, 0, 1, 0, 1]);
  });
});
