import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { locationsQueue } from '@waybell/line/topology';
import { type SweepResult, sweepBeside } from './sweep.ts';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { aReport, HOUR_MS, rules, START, Tracker } from './testing/tracker.ts';

const CLAIM_MS = 200;
const COARSE_MS = 300_000;

const tracker = shared(() => Tracker.start({ claimMs: CLAIM_MS }));

beforeEach(() => tracker.empty());
const guids = (count: number) => Array.from({ length: count }, () => randomUUID()).toSorted();
const refuse = () => Promise.reject(new Error('the broker refuses'));
const announcedVehicles = ({ announced } = tracker) => announced.flatMap(({ vehicles }) => vehicles).toSorted();

async function waiting(): Promise<number> {
  const { rows } = await tracker.store.postgres.query('select from waybell.gps_deactivations');
  return rows.length;
}

async function claimHasRunOut(): Promise<boolean> {
  const { rows } = await tracker.store.postgres.query(
    'select from waybell.gps_deactivations where claimed_until < now()',
  );
  return rows.length > 0;
}

describe('a sweep', () => {
  test('announces those whose last location is more than an hour old, grouped by shipper, once', async () => {
    const seeReport = tracker.replica();
    const shippers = guids(2);
    const silent = [guids(3), guids(2)];
    for (const [place, shipper] of shippers.entries())
      await seeReport(aReport({ shipper, vehicles: silent[place] ?? [] }));
    await seeReport(aReport({ recordedAt: START - 1, vehicles: guids(1), isPickedUp: false }));
    tracker.now = START + HOUR_MS;
    await tracker.sweep();
    expect(tracker.announced).toEqual([]);
    tracker.now += 1;
    await tracker.sweep();
    await tracker.sweep();
    expect(tracker.announced.map(({ shipper, vehicles }) => ({ shipper, vehicles }))).toEqual(
      shippers.map((shipper, place) => ({ shipper, vehicles: silent[place] })),
    );
    const events = tracker.announced.map(({ body }) => JSON.parse(body));
    const happened = { occurred_at: '2026-11-20T10:30:00.001000000Z', payload: { gps_active: false } };
    expect(events).toMatchObject(shippers.map(() => ({ action: 'vehicle.gps_deactivated', ...happened })));
    expect(await waiting()).toBe(0);
  });

  test('announces at most 1,000 vehicles at once', async () => {
    const vehicles = guids(1_001);
    await tracker.replica()(aReport({ vehicles }));
    tracker.now = START + HOUR_MS + 1;
    await tracker.sweep();
    expect(tracker.announced.map((each) => each.vehicles.length)).toEqual([1_000, 1]);
    expect(announcedVehicles()).toEqual(vehicles);
  });

  test('goes by the exact time, where what was noted is coarse', async () => {
    const seeReport = tracker.replica();
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    await seeReport(aReport(vehicle));
    tracker.now = START + COARSE_MS - 1;
    await seeReport(aReport({ ...vehicle, recordedAt: tracker.now }));
    tracker.now += HOUR_MS;
    await tracker.sweep();
    expect(tracker.announced).toEqual([]);
    tracker.now += 1;
    await tracker.sweep();
    expect(announcedVehicles()).toEqual(vehicle.vehicles);
    const { rows } = await tracker.store.postgres.query('select last_seen_at from waybell.tracked_vehicles');
    expect(rows).toEqual([{ last_seen_at: new Date(START + COARSE_MS - 1) }]);
  });

  test('takes each vehicle by its own reports, not by those of its neighbours', async () => {
    const seeReport = tracker.replica();
    const shipper = randomUUID();
    const [silent, driving] = [guids(1), guids(1)];
    await seeReport(aReport({ shipper, vehicles: silent }));
    await seeReport(aReport({ shipper, vehicles: driving }));
    tracker.now = START + COARSE_MS;
    await seeReport(aReport({ shipper, vehicles: driving, recordedAt: tracker.now }));
    tracker.now = START + HOUR_MS + 1;
    await tracker.sweep();
    expect(announcedVehicles()).toEqual(silent);
    tracker.now += COARSE_MS;
    await tracker.sweep();
    expect(announcedVehicles()).toEqual([...silent, ...driving].toSorted());
  });

  test('is later, never earlier, where Redis has forgotten the exact time', async () => {
    const vehicles = guids(1);
    await tracker.replica()(aReport({ vehicles }));
    await tracker.forgetAll();
    tracker.now = START + HOUR_MS + COARSE_MS;
    await tracker.sweep();
    expect(tracker.announced).toEqual([]);
    tracker.now += 1;
    await tracker.sweep();
    expect(announcedVehicles()).toEqual(vehicles);
  });

  test('leaves out vehicles that were seen since it looked', async () => {
    const seeReport = tracker.replica();
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    await seeReport(aReport(vehicle));
    tracker.now = START + HOUR_MS + 1;
    const candidates = await tracker.deactivations.candidates(START + 1);
    expect(candidates).toHaveLength(1);
    expect(await seeReport(aReport({ ...vehicle, recordedAt: START + HOUR_MS }))).toEqual({ activated: [], moved: [] });
    const silent = candidates.map((candidate) => ({ ...candidate, seenAt: START }));
    await tracker.deactivations.switchOff(silent, tracker.now);
    expect(await waiting()).toBe(0);
  });

  test('is followed by an activation when the vehicle is seen again, even before it is announced', async () => {
    const seeReport = tracker.replica();
    const vehicle = { shipper: randomUUID(), vehicles: guids(1) };
    await seeReport(aReport(vehicle));
    tracker.now = START + HOUR_MS + 1;
    await tracker.sweep({ publish: refuse });
    const seen = await seeReport(aReport({ ...vehicle, recordedAt: tracker.now }));
    expect(seen.activated).toEqual(vehicle.vehicles);
    await until('the claim has run out', async () => (await tracker.sweep()) && tracker.announced.length === 1);
    expect(announcedVehicles()).toEqual(vehicle.vehicles);
  });

  test('switches no other vehicle off while the broker does not take what is to be announced', async () => {
    const seeReport = tracker.replica();
    await seeReport(aReport());
    tracker.now = START + 1;
    await seeReport(aReport({ recordedAt: tracker.now }));
    tracker.now = START + HOUR_MS + 1;
    expect(await tracker.sweep({ publish: refuse })).toBe('unconfirmed');
    tracker.now += 1;
    await until('the claim has run out', claimHasRunOut);
    expect(await tracker.sweep({ publish: refuse })).toBe('unconfirmed');
    expect(await waiting()).toBe(1);
    await until('the claim has run out', claimHasRunOut);
    expect(await tracker.sweep()).toBe('done');
    expect(tracker.announced).toHaveLength(2);
  });

  test('does nothing while reports wait to be read', async () => {
    await tracker.replica()(aReport());
    tracker.now = START + HOUR_MS + 1;
    expect(await tracker.sweep({ isCaughtUp: async () => false })).toBe('behind');
    expect(tracker.announced).toEqual([]);
  });

  test.each<[string, { waitsFor?: string; messages?: number; isExact?: boolean; isEnding?: boolean }, SweepResult]>([
    ['reads all that come', {}, 'done'],
    ['has as many before it as it may hold', { messages: 10 }, 'done'],
    ['has more before it', { messages: 11 }, 'behind'],
    ['may have more before it', { isExact: false }, 'behind'],
    ['waits', { waitsFor: 'redis' }, 'behind'],
    ['ends', { isEnding: true }, 'behind'],
  ])('beside a step that %s is %j: %s', async (_, { waitsFor, messages = 0, isExact = true, isEnding }, result) => {
    const { deactivations, remembered, store } = tracker;
    await store.postgres.query(
      `insert into waybell.tracked_vehicles values (gen_random_uuid(), gen_random_uuid(), true, date_trunc('second', now()) - interval '1 day', gen_random_uuid())`,
    );
    const queues: (readonly string[])[] = [];
    const broker = {
      depth: async (asked: readonly string[]) => {
        queues.push(asked);
        return { messages, isExact };
      },
    };
    const config = { inHandLimit: { messages: 10, bytes: 1_000 }, rules, rememberMs: 24 * HOUR_MS };
    const announcing = { publishDue: async () => true };
    const tracking = { waitingFor: () => (waitsFor === undefined ? [] : [waitsFor]) };
    const sweep = sweepBeside(tracking, { broker, deactivations, remembered, announcing, config });
    expect(await sweep(isEnding ? AbortSignal.abort() : new AbortController().signal)).toBe(result);
    expect(new Set(queues.flat())).toEqual(new Set(waitsFor === undefined && !isEnding ? [locationsQueue] : []));
    expect(await waiting()).toBe(result === 'done' ? 1 : 0);
  });

  test('forgets vehicles that were inactive for long, and no others', async () => {
    const seeReport = tracker.replica();
    await seeReport(aReport());
    tracker.now = START + 2 * HOUR_MS;
    await tracker.sweep();
    await seeReport(aReport({ recordedAt: tracker.now }));
    tracker.now = START + 25 * HOUR_MS;
    await tracker.sweep();
    const { rows } = await tracker.store.postgres.query('select from waybell.tracked_vehicles');
    expect(rows).toHaveLength(1);
  });
});

describe('what was switched off and not announced', () => {
  test('is announced by another once the claim has run out, and is the same event', async () => {
    await tracker.replica()(aReport({ vehicles: guids(5) }));
    tracker.now = START + HOUR_MS + 1;
    const tried: string[] = [];
    await tracker.sweep({
      publish: async ({ body }) => {
        tried.push(body.toString());
        await refuse();
      },
    });
    expect([tracker.announced.length, await waiting()]).toEqual([0, 1]);
    await until('the claim has run out', async () => (await tracker.sweep()) && tracker.announced.length > 0);
    expect(tracker.announced.map(({ body }) => body)).toEqual(tried);
    expect(await waiting()).toBe(0);
  });
});

describe('what a replica is announcing', () => {
  test('is left alone by others', async () => {
    await using patient = await Tracker.start({ claimMs: HOUR_MS });
    await patient.replica()(aReport());
    patient.now = START + HOUR_MS + 1;
    await patient.sweep({
      publish: async () => {
        await patient.sweep();
      },
    });
    expect(patient.announced).toHaveLength(1);
  });
});

describe('two replicas', () => {
  test('that sweep at once announce each vehicle once', async () => {
    // No claim runs out while another replica is slow to start.
    await using patient = await Tracker.start({ claimMs: HOUR_MS });
    const seeReport = patient.replica();
    const vehicles = guids(2_000);
    await Promise.all(vehicles.map((vehicle) => seeReport(aReport({ vehicles: [vehicle] }))));
    patient.now = START + HOUR_MS + 1;
    await Promise.all([patient.sweep(), patient.sweep(), patient.sweep()]);
    expect(announcedVehicles(patient)).toEqual(vehicles);
  });
});
