import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  FlowWorld,
  type Answer,
  type EndpointPlan,
  type Happening,
  type Origin,
  type WorldPlan,
} from '../testing/flow-world.ts';

/** The longest answer of the store, request and pause between probes, the waiting queue, and a few polls and retries. */
const WELL_FOR_MS = 180_000;

const one = fc.nat({ max: 2 });
const room = fc.nat({ max: 11 });
const some = <T extends string>(...all: T[]) => fc.constantFrom(...all);
const rows = fc.record({
  kind: fc.constant('rows' as const),
  to: room,
  ages: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 12 }),
  dueMs: fc.constantFrom(0, 0, 0, 3_000),
});
const asks = fc.record({
  kind: fc.constant('asks' as const),
  to: room,
  by: one,
  origin: some<Origin>('fresh', 'fresh', 'retry', 'by hand'),
  count: fc.integer({ min: 1, max: 10 }),
});
const away = fc.record({ kind: fc.constant('away' as const), forMs: fc.constantFrom(500, 5_000, 25_000) });
const blocked = fc.record({ kind: fc.constant('blocked' as const), to: one, forMs: fc.constantFrom(500, 12_000) });
const late = fc.record({
  kind: fc.constant('late' as const),
  lateMs: fc.constantFrom(50, 700, 3_000, 50_000),
  forMs: fc.constantFrom(1_000, 8_000),
});
const freezes = fc.record({
  kind: fc.constant('freezes' as const),
  to: one,
  forMs: fc.constantFrom(700, 9_000, 26_000, 26_000),
});
const leaves = fc.record({ kind: some<'stops' | 'dies'>('stops', 'dies'), to: one });
const starts = fc.constant({ kind: 'starts' } as const);

const endpoint = fc.record({
  account: fc.nat({ max: 2 }),
  limitMs: fc.constantFrom(3_000, 30_000),
  shutForMs: fc.constantFrom(undefined, undefined, 2_000, 2_400_000),
  askedMs: fc.constantFrom(undefined, 2_000),
  answers: fc.array(
    fc.record({
      is: some<Answer>('quick', 'slow', 'hangs', 'hangs', 'too much'),
      forMs: fc.constantFrom(2_000, 10_000, 40_000),
    }),
    { maxLength: 4 },
  ),
});
/** Rows for it are in hand for long. */
const dead = fc.record({
  account: fc.nat({ max: 2 }),
  limitMs: fc.constant(30_000),
  answers: fc.constant([{ is: 'hangs' as const, forMs: 600_000 }]),
});

/** One of many accounts that have one endpoint each, and none answers quickly. */
const stranger = fc.record({
  account: fc.nat({ max: 99 }),
  limitMs: fc.constantFrom(3_000, 30_000),
  shutForMs: fc.constantFrom(undefined, undefined, 60_000),
  answers: fc.tuple(fc.record({ is: some<Answer>('slow', 'slow', 'hangs'), forMs: fc.constant(40_000) })),
});

/** Another, that answers slowly for long. */
const slow = fc.record({
  account: fc.nat({ max: 99 }),
  limitMs: fc.constant(30_000),
  answers: fc.constant([{ is: 'slow' as const, forMs: 40_000 }]),
});

type Happens = { pauses?: number[]; endpoints: fc.Arbitrary<EndpointPlan[]>; of: fc.Arbitrary<Happening>[] };
/** `pauses`: between what happens, in milliseconds. */
const worlds = ({ pauses = [0, 0, 10, 300, 2_000, 7_000], endpoints, of }: Happens) =>
  fc.record({
    slots: fc.constantFrom(10, 20, 40),
    deliverers: fc.integer({ min: 1, max: 3 }),
    endpoints,
    happens: fc.array(fc.record({ afterMs: fc.constantFrom(...pauses), what: fc.oneof(...of) }), {
      minLength: 8,
      maxLength: 25,
    }),
  });
const happen = (...of: fc.Arbitrary<Happening>[]) => ({
  endpoints: fc.array(endpoint, { minLength: 1, maxLength: 6 }),
  of,
});
/** Many rows are in hand for long while claims are lost. */
const lossy = fc
  .tuple(
    worlds({
      pauses: [10],
      endpoints: fc.array(fc.oneof(endpoint, dead, dead), { minLength: 1, maxLength: 4 }),
      of: [rows],
    }),
    worlds({
      pauses: [10, 300, 1_500, 5_000, 12_000],
      ...happen(rows, asks, away, late, late, freezes, freezes, leaves, starts),
    }),
  )
  .map(([begins, goesOn]) => ({ ...begins, happens: [...begins.happens, ...goesOn.happens] }));
/** The store is away, but for no longer than a claim lasts, while rows are answered. */
const outages = worlds({
  pauses: [10, 300, 1_500, 5_000],
  ...happen(rows, rows, fc.record({ kind: fc.constant('away' as const), forMs: fc.constantFrom(500, 5_000) })),
});
/** Little comes from rooms: what waits in hand is woken by its endpoint alone. */
const byHand = worlds({
  pauses: [300, 2_000, 7_000],
  endpoints: fc.array(endpoint, { minLength: 1, maxLength: 2 }),
  of: [asks.map((what) => ({ ...what, origin: 'by hand' as const, count: 1 }))],
});
const anything = fc.oneof(
  worlds(happen(rows, rows, asks, asks, away, blocked, late, freezes, leaves, starts)),
  lossy,
  outages,
  byHand,
);

/** Has some worlds live until all is well, and checks each. */
const expectLaw = (plans: fc.Arbitrary<WorldPlan>, check: (world: FlowWorld) => unknown[]) =>
  expect(
    fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        await using world = new FlowWorld(plan);
        await world.live({ wellForMs: WELL_FOR_MS });
        const wrong = check(world);
        if (wrong.length > 0) throw new Error(`not so: ${wrong.join('; ')}`);
      }),
      { numRuns: 30, endOnFailure: true },
    ),
  ).resolves.toBeUndefined();

describe('whatever happens to deliverers that share waiting rooms, once all is well', () => {
  test('no slot is used, nothing is in hand, and no room is claimed', async () => {
    await expectLaw(anything, (world) => [...world.held(), ...world.lost()]);
  });

  test('every delivery that asked was answered, once, and every row was taken and its delivery answered in bounded time', async () => {
    await expectLaw(anything, (world) => [...world.left, ...world.unanswered, ...world.seen.answeredTwice]);
  });
});

describe('whatever happens meanwhile,', () => {
  // Promised is only: oldest first from each read, and all from the first row again each second or two while the store is on time. One
  // that waits again, came later or was cut may be later.
  test('a row goes after all older ones of its room that have waited there for two seconds', async () => {
    let compared = 0;
    await expectLaw(worlds(happen(rows, rows, rows, asks, away, blocked, leaves, starts)), (world) => {
      compared += world.compared;
      return world.seen.outOfOrder;
    });
    expect(compared).toBeGreaterThan(0);
  });

  test('endpoints of each kind, and all together, hold no more than their share of the slots, also while rows come from rooms', async () => {
    const strangers = worlds({
      pauses: [0, 0, 10, 1_000],
      endpoints: fc.array(fc.oneof(endpoint, stranger, stranger), { minLength: 8, maxLength: 12 }),
      of: [rows, rows, rows, asks, away, blocked, starts],
    });
    const slowOnes = worlds({
      pauses: [300, 1_000, 2_000],
      endpoints: fc.array(slow, { minLength: 10, maxLength: 12 }),
      of: [rows, rows, rows, asks],
    });
    await expectLaw(fc.oneof(strangers, strangers, strangers, slowOnes), (world) => world.seen.overShares);
  });

  test('no row is in hand of two by their own clocks, none is used by one that lost it, and what is cut is attempted by another', async () => {
    let cut = 0;
    await expectLaw(lossy, ({ some: { all, twice }, delivered }) => {
      const lost = all.flatMap((each) => each.cut);
      cut += lost.length;
      return [...twice, ...lost.filter((name) => !delivered.has(name))];
    });
    expect(cut).toBeGreaterThan(0);
  });
});
