import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../testing/ledger.ts';
import { Load } from '../testing/load.ts';
import type { Ending, Owed } from '../testing/owed.ts';
import { subscribers, type Party } from '../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Course } from './fault.ts';
import type { Scale, Stage } from './stage.ts';

/** How much upstream publishes, and how often the fault comes. */
type Plan = { eventsPerSecond: number; eventsBefore: number; eventsAfter: number; times: number };

const PLANS: Record<Scale, Plan> = {
  // The capacity of two cores beside other tests: more events would only wait, and be delivered long after the fault.
  short: { eventsPerSecond: 100, eventsBefore: 50, eventsAfter: 100, times: 1 },
  release: { eventsPerSecond: 1_000, eventsBefore: 2_000, eventsAfter: 5_000, times: 1 },
};
/** `FAULT_RATE=400` is at most 400 events a second, for a machine that does not carry more while things break. */
const MOST_PER_SECOND = Number(process.env['FAULT_RATE'] ?? Infinity);
const LONGEST_PAUSE_MS = 3_000;

/** Breaks something; resolves when it is no longer being broken, with what did not hold meanwhile. */
export type Inject = (stage: Stage, ledger: Ledger) => Promise<string[] | void>;

export type UnderLoadOptions = {
  /** Rate of events, where the usual rate is more than a small machine can carry. */
  eventsPerSecond?: Partial<Record<Scale, number>>;
  /** How often it is broken in the release bench, each time at a random moment. */
  releaseTimes?: number;
  /** Acceptable ends in addition to the expected ones. */
  permits?: (owed: Owed) => readonly Ending[];
  /** Further conditions once the line is at rest. */
  check?: (stage: Stage, ledger: Ledger) => Promise<string[]> | string[];
};

/** Breaks something under load of both interfaces and waits until all of it has come to an end. */
export function underLoad(inject: Inject, options: UnderLoadOptions = {}) {
  const { releaseTimes = 1, eventsPerSecond = {}, permits = () => [], check = () => [] } = options;
  const plans: Record<Scale, Plan> = { ...PLANS, release: { ...PLANS.release, times: releaseTimes } };
  return async (stage: Stage, ledger: Ledger): Promise<Course> => {
    const { receiver, scale } = stage;
    const { times, eventsBefore, eventsAfter, ...plan } = plans[scale];
    const rate = Math.min(eventsPerSecond[scale] ?? plan.eventsPerSecond, MOST_PER_SECOND);
    const [parties, seen] = [await subscribers(stage), receiver.received.length];
    const permitting = parties.map(({ anEvent, owes }): Party => {
      return {
        anEvent,
        owes: (event) => owes(event).map((owed) => ({ ...owed, ends: [...owed.ends, ...permits(owed)] })),
      };
    });
    using load = new Load({ ledger, parties: permitting, eventsPerSecond: rate });
    await until('there is load', () => ledger.published >= eventsBefore && receiver.received.length > seen);
    const problems: string[] = [];
    const movingAgainSeconds = await runEvery(times, async () => {
      const since = performance.now();
      problems.push(...((await inject(stage, ledger)) ?? []));
      // Not beside it: what is broken for longer than any wait must not end the test meanwhile.
      return ledger.movedAgain(since);
    });
    const before = ledger.published;
    await until('there is load again', () => ledger.published >= before + eventsAfter);
    await load.stop();
    const stoppedAt = performance.now();
    await ledger.untilSettled();
    const atRestSeconds = (performance.now() - stoppedAt) / 1_000;
    problems.push(...(await check(stage, ledger)));
    return { times, movingAgainSeconds, atRestSeconds, problems };
  };
}

/** The longest of so many goes. */
async function runEvery(times: number, go: () => Promise<number>): Promise<number> {
  let longest = 0;
  for (let time = 1; time <= times; time += 1) {
    if (time > 1) await sleep(Math.random() * LONGEST_PAUSE_MS);
    longest = Math.max(longest, await go());
  }
  return longest;
}
