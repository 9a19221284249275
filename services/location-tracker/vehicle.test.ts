import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readVehicle, writeVehicle } from './remembered-vehicles.ts';
import {
  greatCircleM,
  type Position,
  isSilent,
  see,
  seenAtLatest,
  type TrackingRules,
  type Sighting,
  type Vehicle,
} from './vehicle.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-11-20T09:30:00Z');
const rules: TrackingRules = { distanceM: 1_000, silenceMs: HOUR_MS };
const unknown: Vehicle = { activity: null, track: null };

const aSighting = (what: Partial<Sighting> = {}): Sighting => ({
  report: randomUUID(),
  recordedAt: START,
  latitude: 52.5,
  longitude: 13.4,
  isPickedUp: true,
  ...what,
});

type Told = { what: 'on' | 'off' | 'moved'; at: number; position?: Position };

/** One vehicle, what its client is told about it, and the sweep. */
class Life {
  vehicle = unknown;
  readonly told: Told[] = [];
  /** The latest time at which it was certainly seen, without what is forgotten. */
  lastSeenAt = -Infinity;
  /** Number of repeated reports that changed something. */
  changedByOld = 0;
  /** How long it had been silent each time that it was announced off. */
  readonly silencesMs: number[] = [];

  report(sighting: Sighting, now: number): void {
    const { vehicle, isActivated, hasMoved } = see(this.vehicle, sighting, { rules, now });
    if (vehicle !== this.vehicle) this.lastSeenAt = Math.max(this.lastSeenAt, vehicle.track?.seenAt ?? -Infinity);
    this.vehicle = vehicle;
    if (isActivated) this.told.push({ what: 'on', at: now });
    if (hasMoved) this.told.push({ what: 'moved', at: now, position: sighting });
  }

  sweep(now: number): void {
    const { activity, track } = this.vehicle;
    if (activity?.isActive !== true) return;
    const seenAt = seenAtLatest(activity.notedAt, track?.seenAt ?? null, rules);
    if (!isSilent(seenAt, { rules, now })) return;
    this.vehicle = { track, activity: { ...activity, isActive: false, notedAt: track?.seenAt ?? activity.notedAt } };
    this.told.push({ what: 'off', at: now });
    this.silencesMs.push(now - this.lastSeenAt);
  }

  /** Makes Redis forget the vehicle. Nothing remains of an inactive one; Postgres knows roughly when an active one was seen. */
  forget(): void {
    const { activity } = this.vehicle;
    this.vehicle = { activity, track: null };
    if (activity?.isActive !== true) this.lastSeenAt = -Infinity;
  }

  get changes(): string[] {
    return this.told.filter(({ what }) => what !== 'moved').map(({ what }) => what);
  }
}

const minutes = (most: number) => fc.nat({ max: most }).map((count) => count * 60_000);
const position = fc.record({
  latitude: fc.constantFrom(52.5, 52.501, 52.505, 52.52, 89.999),
  longitude: fc.constantFrom(13.4, 13.402, 179.999, -179.999),
});
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      position,
      isPickedUp: fc.boolean(),
      lateMs: minutes(90),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      position,
      isPickedUp: fc.boolean(),
      lateMs: fc.constant(-7_200_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('again' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
);
const forgetting = fc.record({ kind: fc.constant('forget' as const) });
type Happening = typeof happening extends fc.Arbitrary<infer H> ? H | { kind: 'forget' } : never;
const story = (what: fc.Arbitrary<Happening>) =>
  fc.array(fc.record({ afterMs: minutes(40), what }), { minLength: 1, maxLength: 40 });

/** Plays a story. */
function live(steps: { afterMs: number; what: Happening }[]) {
  const life = new Life();
  let now = START;
  let last: Sighting | undefined;
  for (const { afterMs, what } of steps) {
    now += afterMs;
    if (what.kind === 'report') {
      last = aSighting({ ...what.position, isPickedUp: what.isPickedUp, recordedAt: now - what.lateMs });
      life.report(last, now);
    }
    if (what.kind === 'sweep') life.sweep(now);
    if (what.kind === 'forget') life.forget();
    if (what.kind === 'again' && last !== undefined && last.recordedAt <= now) {
      const before = life.vehicle;
      const again = see(before, last, { rules, now });
      if (before.track !== null && again.vehicle !== before) life.changedByOld += 1;
    }
  }
  return { life, now };
}

const law = (what: fc.Arbitrary<Happening>, check: (steps: { afterMs: number; what: Happening }[]) => void) =>
  fc.assert(fc.property(story(what), check), { numRuns: 500 });

describe('whatever is reported and whenever it is swept, a vehicle', () => {
  test('is announced on and off in turn, on first', () => {
    law(fc.oneof(happening, forgetting), (steps) => {
      const { changes } = live(steps).life;
      expect(changes).toEqual(changes.map((_, place) => (place % 2 === 0 ? 'on' : 'off')));
    });
  });

  test('that falls silent is announced off exactly once, whatever Redis forgot', () => {
    law(fc.oneof(happening, forgetting), (steps) => {
      const { life, now } = live(steps);
      for (const later of [2, 3, 4]) life.sweep(now + later * HOUR_MS);
      const count = (what: string) => life.changes.filter((each) => each === what).length;
      expect(count('off')).toBe(count('on'));
    });
  });

  test('is never announced off while its last location is an hour old or younger, whatever Redis forgot', () => {
    law(fc.oneof(happening, forgetting), (steps) => {
      expect(live(steps).life.silencesMs.filter((silentMs) => silentMs <= HOUR_MS)).toEqual([]);
    });
  });

  test('is not changed by a report that comes again', () => {
    law(fc.oneof(happening, forgetting), (steps) => expect(live(steps).life.changedByOld).toBe(0));
  });

  test('is announced at a new position only when that is the distance away from the last announced', () => {
    law(happening, (steps) => {
      const moves = live(steps).life.told.flatMap(({ position: told }) => (told === undefined ? [] : [told]));
      moves.slice(1).forEach((to, place) => {
        const from = moves[place];
        expect(from && greatCircleM(from, to)).toBeGreaterThanOrEqual(rules.distanceM);
      });
    });
  });
});

describe('a report', () => {
  const seen = (what: Partial<Sighting> = {}) => see(unknown, aSighting(what), { rules, now: START }).vehicle;

  test('that is processed again is told again what it changed, and changes nothing', () => {
    const sighting = aSighting();
    const first = see(unknown, sighting, { rules, now: START });
    const again = see(first.vehicle, sighting, { rules, now: START + 2 * HOUR_MS });
    expect(again).toEqual({ vehicle: first.vehicle, isActivated: true, hasMoved: true });
    expect(again.vehicle).toBe(first.vehicle);
  });

  test('whose change was noted, but not where it was, is told of both again', () => {
    const sighting = aSighting();
    const { activity } = see(unknown, sighting, { rules, now: START }).vehicle;
    expect(see({ activity, track: null }, sighting, { rules, now: START })).toMatchObject({
      isActivated: true,
      hasMoved: true,
    });
  });

  test.each<[what: string, sighting: Partial<Sighting>]>([
    ['recorded before what is known', { recordedAt: START - 1 }],
    ['recorded at the same moment', { recordedAt: START }],
    ['already older than the silence limit', { recordedAt: START - HOUR_MS - 1 }],
  ])('%s changes nothing', (_what, sighting) => {
    const vehicle = seen();
    const again = see(vehicle, aSighting({ latitude: 10, ...sighting }), { rules, now: START });
    expect(again).toEqual({ vehicle, isActivated: false, hasMoved: false });
  });

  test('older than the silence limit does not switch GPS on', () => {
    const old = aSighting({ recordedAt: START - HOUR_MS - 1 });
    expect(see(unknown, old, { rules, now: START })).toEqual({ vehicle: unknown, isActivated: false, hasMoved: false });
    const young = aSighting({ recordedAt: START - HOUR_MS });
    expect(see(unknown, young, { rules, now: START })).toMatchObject({ isActivated: true });
  });

  test('of a vehicle that is not picked up announces nothing, and keeps an active one from being silent', () => {
    expect(see(unknown, aSighting({ isPickedUp: false }), { rules, now: START })).toMatchObject({
      isActivated: false,
      hasMoved: false,
    });
    const later = START + HOUR_MS;
    const kept = see(seen(), aSighting({ isPickedUp: false, latitude: 10, recordedAt: later }), { rules, now: later });
    expect(kept).toMatchObject({ isActivated: false, hasMoved: false });
    expect(kept.vehicle).toMatchObject({ activity: { isActive: true, notedAt: later }, track: { seenAt: later } });
  });

  test('from the future counts as recorded when it was received', () => {
    expect(seen({ recordedAt: START + 24 * HOUR_MS }).track?.seenAt).toBe(START);
  });

  test('keeps the position told as the reference until it is far enough, however many come in between', () => {
    let vehicle = seen({ latitude: 52.5 });
    const moved = [52.503, 52.506, 52.5089, 52.509].map((latitude, place) => {
      const at = START + (place + 1) * 1_000;
      const step = see(vehicle, aSighting({ latitude, recordedAt: at }), { rules, now: at });
      vehicle = step.vehicle;
      return step.hasMoved;
    });
    expect(moved).toEqual([false, false, false, true]);
  });
});

describe('seenAtLatest', () => {
  test('is exact where that is known, and as late as it may have been where it is not', () => {
    expect(seenAtLatest(START, START + 1, rules)).toBe(START + 1);
    expect(seenAtLatest(START, null, rules)).toBe(START + 300_000);
  });
});

describe('a vehicle in Redis', () => {
  const announced = { latitude: 1.5, longitude: -2.25, report: 'r' };
  const activity = { isActive: true, notedAt: 3, activatedBy: 'a' };

  test.each<Vehicle>([
    { activity, track: { seenAt: 4, announced } },
    { activity: { ...activity, isActive: false }, track: { seenAt: 4, announced: null } },
    { activity: null, track: { seenAt: 4, announced } },
    { activity, track: null },
  ])('is read as it was written, with what a later version wrote behind it: %j', (vehicle) => {
    const text = writeVehicle(vehicle);
    expect(readVehicle(text)).toEqual({ vehicle, text });
    const later = `${text} of tomorrow`;
    expect(readVehicle(later).vehicle).toEqual(vehicle);
    expect(writeVehicle(vehicle, later)).toBe(later);
  });
});

const anyPosition = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});
const at = (latitude: number, longitude: number): Position => ({ latitude, longitude });
const HALF_WAY_ROUND_M = Math.PI * 6_371_008.8;

describe('greatCircleM', () => {
  test.each<[what: string, from: Position, to: Position, metres: number]>([
    ['London to Paris', at(51.5074, -0.1278), at(48.8566, 2.3522), 343_556],
    ['a degree of latitude', at(10, 20), at(11, 20), 111_195],
    ['across the antimeridian', at(0, 179.995), at(0, -179.995), 1_112],
    ['across the pole', at(89.995, 0), at(89.995, 180), 1_112],
    ['around the pole itself, where longitude means nothing', at(90, 0), at(90, 137), 0],
    ['to the other side of the Earth', at(0, 0), at(0, 180), HALF_WAY_ROUND_M],
  ])('measures %s', (_what, from, to, metres) => {
    expect(Math.abs(greatCircleM(from, to) - metres)).toBeLessThan(1);
  });

  test('is the same both ways, never negative, and nowhere more than half way round', () => {
    fc.assert(
      fc.property(anyPosition, anyPosition, (from, to) => {
        const metres = greatCircleM(from, to);
        expect(metres).toBeCloseTo(greatCircleM(to, from), 6);
        expect(metres).toBeGreaterThanOrEqual(0);
        expect(metres).toBeLessThanOrEqual(HALF_WAY_ROUND_M + 1);
      }),
    );
  });
});
