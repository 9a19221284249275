import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readEnvironment, count } from '@waybell/runtime/environment';
import { endpointSettings, readEndpoints } from '@waybell/deliverer/config';
import type { Hold, TooMuch } from '@waybell/deliverer/flow/endpoint';
import type { Receiver } from './receivers.ts';
import { simulateFlow, type Simulated, type SimulatedAttempt, type SimulationOptions } from './simulate-flow.ts';
import { numberOf } from './subscriptions.ts';

const SLOTS = 1_024;
const HELD = 1_024;
const LOAD_MS = 12_000;
/** The time by which all waiting deliveries have ended: a rest lasts half a minute here, and a retry comes after a minute. */
const END_MS = 100_000;
const ANSWER_MS = 10;
/** Postgres takes this long at most to answer. */
const POSTGRES_MS = 20;
/** A delivery is looked up, and at most once more. */
const AT_ONCE_MS = 50 + 2 * POSTGRES_MS;
/** A subscription that was looked up is not looked up again for so long, and what was found is as old as the answer. */
const UNNOTICED_MS = 100 + 2 * POSTGRES_MS;
/** Rooms are looked for every second, those that were missed every ten, and each has to be read and moved. */
const NOTICED_MS = 1_500;
const MISSED_MS = 11_000;

const settings = readEnvironment({ DELIVER_SLOTS: count({ per: 'process', default: SLOTS }), ...endpointSettings }, {});

function simulated(receivers: Receiver[], what: Partial<SimulationOptions> = {}): Promise<Simulated> {
  let turn = 0;
  const random = () => ((turn = (turn + 1) % 97) + 0.5) / 97;
  const endpoints = readEndpoints(settings, HELD);
  const postgresMs = () => Math.round(random() * POSTGRES_MS);
  const times = { durationMs: END_MS, loadMs: LOAD_MS };
  return simulateFlow({ receivers, endpoints, held: HELD, random, postgresMs, ...times, ...what });
}

const aReceiver = (what: Partial<Receiver>): Receiver => ({
  kind: 'fast',
  interface: 'shipper',
  burst: 1,
  everyMs: 100,
  answerMs: () => ANSWER_MS,
  ...what,
});

const lateOf = ({ beganAt, dueAt }: SimulatedAttempt): number => beganAt - dueAt;

/** Throws where an attempt breaks the law. */
function forbid(broken: SimulatedAttempt | undefined, law: string): void {
  if (broken !== undefined) throw new Error(`${law}: ${JSON.stringify(broken)}`);
}

/** Each delivery that came has ended, once. */
function expectAllEnded({ came, ended }: Simulated): void {
  const counts = new Map<number, number>();
  for (const { subscription } of ended)
    counts.set(numberOf(subscription), (counts.get(numberOf(subscription)) ?? 0) + 1);
  expect(counts).toEqual(came);
  expect(new Set(ended.map(({ delivery }) => delivery)).size).toBe(ended.length);
}

/** Expects that deliveries of receivers other than `special` begin at once. */
function expectOthersAtOnce({ attempts }: Simulated, receivers: readonly Receiver[]): void {
  const others = attempts.filter(({ place }) => receivers[place]?.kind === 'fast');
  expect(others.length).toBeGreaterThan(0);
  forbid(
    others.find((attempt) => lateOf(attempt) > AT_ONCE_MS),
    'a healthy one is called at once',
  );
}

describe('an endpoint that says "too much"', () => {
  const asked = fc.constantFrom<Pick<TooMuch, 'askedMs'>>(
    {},
    { askedMs: 1_000 },
    { askedMs: 7_500 },
    { askedMs: 30_000 },
  );
  const refusing = fc
    .record({
      interface: fc.constantFrom('carrier', 'shipper'),
      account: fc.constantFrom('one', 'two'),
      everyMs: fc.constantFrom(20, 100, 1_000),
      from: fc.integer({ min: 0, max: 6_000 }),
      forMs: fc.integer({ min: 100, max: 6_000 }),
      asked,
    })
    .map(({ from, forMs, asked: tooMuch, ...what }) =>
      aReceiver({
        ...what,
        kind: 'refusing',
        host: 'shared',
        refuses: (at) => (at >= from && at < from + forMs ? tooMuch : undefined),
      }),
    );
  const healthy = fc
    .record({ account: fc.constantFrom('one', 'two', 'three'), host: fc.constantFrom('shared', 'another') })
    .map((what) => aReceiver(what));
  const mix = fc.tuple(
    fc.array(refusing, { minLength: 1, maxLength: 5 }),
    fc.array(healthy, { minLength: 1, maxLength: 5 }),
  );

  test('has no delivery attempted for the first time while it rests, and delays neither its retries nor others; none is lost', async () => {
    const law = fc.asyncProperty(mix, async ([some, others]) => {
      const receivers = [...some, ...others];
      const all = await simulated(receivers);
      for (const [place, { refuses = () => undefined }] of receivers.entries()) {
        const own = all.attempts.filter((attempt) => attempt.place === place);
        for (const { beganAt } of own) {
          const tooMuch = refuses(beganAt);
          if (tooMuch === undefined) continue;
          const from = beganAt + ANSWER_MS;
          const until = from + (tooMuch.askedMs ?? 1_000);
          forbid(
            own.find((each) => each.attempt === 1 && each.beganAt > from && each.beganAt < until && refuses(beganAt)),
            `none is attempted for the first time from ${from} to ${until}`,
          );
        }
        forbid(
          own.find((each) => each.attempt > 1 && (lateOf(each) < 0 || lateOf(each) > 1_000)),
          'a retry keeps its schedule',
        );
      }
      expectOthersAtOnce(all, receivers);
      expectAllEnded(all);
    });
    await fc.assert(law, { numRuns: 5 });
  });

  test('gets half as many at once, and no more as long as it refuses', async () => {
    const refuses = (at: number) => (at >= 3_000 && at < 9_000 ? {} : undefined);
    const receivers = [aReceiver({ kind: 'busy', everyMs: 500, burst: 100, refuses })];
    const { attempts } = await simulated(receivers, { durationMs: 9_000 });
    const most = (from: number, until: number) => {
      const began = attempts.filter(({ beganAt }) => beganAt >= from && beganAt < until).map(({ beganAt }) => beganAt);
      return Math.max(...began.map((at) => began.filter((other) => other > at - ANSWER_MS && other <= at).length));
    };
    const [before, then] = [most(0, 3_000), most(4_000, 9_000)];
    expect(before).toBeGreaterThan(4);
    expect(then).toBeLessThanOrEqual(Math.ceil(before / 2));
  });
});

describe('a subscription that is held', () => {
  const change = fc.record({
    afterMs: fc.integer({ min: 500, max: 4_000 }),
    how: fc.constantFrom('paused', 'stopped', 'let go'),
    forMs: fc.integer({ min: 100, max: 6_000 }),
  });
  /** Changes that end with one that lets it go. */
  const holds = fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    let at = 0;
    const made = changes.map(({ afterMs, how, forMs }): { at: number; hold?: Hold } => {
      at += afterMs;
      if (how === 'let go') return { at };
      return { at, hold: how === 'paused' ? { why: 'paused', until: at + forMs } : { why: 'stopped' } };
    });
    return [...made, { at: at + 4_000 }];
  });
  const answers = fc.constantFrom<Partial<Receiver>>({}, {}, { answerMs: () => 2_900 });
  const held = fc
    .record({ holds, how: answers, path: fc.constantFrom('one', 'two') })
    .map(({ how, ...what }) => aReceiver({ kind: 'held', account: 'a', host: 'a', everyMs: 50, ...what, ...how }));
  const neighbour = fc
    .record({
      account: fc.constantFrom('a', 'b'),
      host: fc.constantFrom('a', 'b'),
      path: fc.constantFrom('three', 'four'),
    })
    .map((what) => aReceiver(what));
  const mix = fc.tuple(
    fc.array(held, { minLength: 1, maxLength: 4 }),
    fc.array(neighbour, { minLength: 1, maxLength: 4 }),
  );

  /** From when until when it is held. */
  const spansOf = ({ holds: changes = [] }: Receiver) =>
    changes.flatMap(({ at, hold }, place) => {
      const next = changes[place + 1]?.at ?? Infinity;
      return hold === undefined ? [] : [{ from: at, until: Math.min(hold.until ?? Infinity, next) }];
    });

  test('gets nothing meanwhile, and all of it then; nobody else is later for it, nothing is lost, and nothing counts', async () => {
    const law = fc.asyncProperty(mix, async ([some, others]) => {
      const receivers = [...some, ...others];
      const all = await simulated(receivers, { durationMs: 40_000 });
      for (const [place, receiver] of receivers.entries()) {
        const own = all.attempts.filter((attempt) => attempt.place === place);
        for (const { from, until } of spansOf(receiver))
          forbid(
            own.find(({ beganAt }) => beganAt > from + UNNOTICED_MS && beganAt < until),
            `none begins from ${from} to ${until}`,
          );
      }
      expectOthersAtOnce(all, receivers);
      expectAllEnded(all);
      expect(all.ended.filter(({ kind }) => kind !== 'delivered')).toEqual([]);
      expect(all.ends.filter(({ isDelivered }) => !isDelivered)).toEqual([]);
    });
    await fc.assert(law, { numRuns: 6 });
  });

  test.each<[string, NonNullable<Receiver['holds']>]>([
    ['a pause that ends', [{ at: 5_000, hold: { why: 'paused', until: 15_000 } }]],
    ['a resume', [{ at: 5_000, hold: { why: 'paused', until: 1e9 } }, { at: 15_000 }]],
    ['a start', [{ at: 5_000, hold: { why: 'stopped' } }, { at: 15_000 }]],
    [
      'a pause and a stop at once',
      [
        { at: 5_000, hold: { why: 'paused', until: 15_000 } },
        { at: 6_000, hold: { why: 'stopped' } },
        { at: 14_000, hold: { why: 'paused', until: 15_000 } },
      ],
    ],
    [
      'a pause that is made shorter',
      [
        { at: 5_000, hold: { why: 'paused', until: 1e9 } },
        { at: 8_000, hold: { why: 'paused', until: 15_000 } },
      ],
    ],
  ])(
    'has what waited sent soon after %s, the oldest first, no more at once than its endpoint takes',
    async (_, changes) => {
      const shared = { account: 'a', host: 'a', path: 'one', everyMs: 20 };
      const receivers = [aReceiver({ ...shared, kind: 'held', holds: changes }), aReceiver(shared)];
      const all = await simulated(receivers, { durationMs: 60_000 });
      const own = all.attempts.filter(({ place }) => place === 0);
      const waited = own.filter(
        ({ dueAt, beganAt }) => dueAt > 5_000 && dueAt < 15_000 && beganAt - dueAt > AT_ONCE_MS,
      );
      expect(waited.length).toBeGreaterThan(300);
      const inTime = waited.filter(({ beganAt }) => beganAt >= 15_000 && beganAt < 15_000 + NOTICED_MS + 2_000);
      expect(inTime.length).toBeGreaterThan(0.95 * waited.length);
      forbid(
        waited.find(({ beganAt }) => beganAt > 15_000 + MISSED_MS),
        'what was missed is found',
      );
      const ages = inTime.toSorted((one, other) => one.beganAt - other.beganAt).map(({ madeAt }) => madeAt);
      expect(ages).toEqual(ages.toSorted((one, other) => one - other));
      expectOthersAtOnce(all, receivers);
      expectAllEnded(all);
      expect(all.ends.filter(({ isDelivered }) => !isDelivered)).toEqual([]);
    },
  );

  test('has what is too old expire when it is, uncounted', async () => {
    const maxAgeMs = 6_000;
    const all = await simulated([aReceiver({ kind: 'held', holds: [{ at: 2_000, hold: { why: 'stopped' } }] })], {
      maxAgeMs,
      durationMs: 60_000,
    });
    expectAllEnded(all);
    const expired = all.ended.filter(({ kind }) => kind === 'exhausted');
    expect(expired.length).toBeGreaterThan(100);
    expect(all.ended.filter((end) => end.kind === 'exhausted' && 'reason' in end && end.reason !== 'expired')).toEqual(
      [],
    );
    expect(all.ends.filter(({ isUncounted }) => isUncounted !== true)).toEqual([]);
    expect(all.attempts.filter(({ beganAt }) => beganAt > 2_000 + UNNOTICED_MS)).toEqual([]);
  });
});
