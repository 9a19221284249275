import { setTimeout as sleep } from 'node:timers/promises';
import { alarmed } from '../alarmed.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { lastRelease, sourcesOf } from '../other-sources.ts';
import type { Scale, Settings } from '../stage.ts';
import { addsToAll } from '../tomorrow.ts';
import { buildStageOf, here, prepare, rollAndBack } from '../two-versions.ts';
import { underLoad, type Inject } from '../under-load.ts';

/** Twelve services and three servers beside it. */
const EVENTS_PER_SECOND = { short: 60, release: 100 };
const ALARM_MS = 2_000;

const once = <T>(make: () => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
};
const release = once(() => sourcesOf(lastRelease()));
const adding = once(() => sourcesOf('HEAD', addsToAll));

const onRelease = async (settings: Settings, scale: Scale) => buildStageOf(await release(), settings, scale);
const onThis = (settings: Settings, scale: Scale) => buildStageOf(here, settings, scale);

/** Queues and tables first, as an upgrade goes, then the services in that order, and back. */
const upgrade =
  (first: readonly string[]): Inject =>
  async (stage) => {
    await prepare(stage, here);
    await rollAndBack(stage, { first, from: await release(), to: here });
  };

/** Deliveries, records and ends are put into rooms by one version, and sent by the other. */
const besideAlarms: Inject = async (stage) => {
  await adding();
  const isOver = new AbortController();
  const alarms = (async () => {
    while (!isOver.signal.aborted) {
      await alarmed(stage, 'memory', () => sleep(ALARM_MS));
      await sleep(2 * ALARM_MS, undefined, { signal: isOver.signal }).catch(() => undefined);
    }
  })();
  await rollAndBack(stage, { first: [], from: here, to: await adding() });
  isOver.abort();
  await alarms;
};

/** `repeats`: what may be handed over twice. */
const fault = (what: Pick<Fault, 'name' | 'buildStage'> & { inject: Inject; repeats?: number }): Fault => {
  const { inject, repeats = 0, ...rest } = what;
  return {
    row: 'L26',
    ...rest,
    bars: { duplicates: repeats, forked: repeats, movingAgainSeconds: 15, megabytes: 300 },
    run: underLoad(inject, { eventsPerSecond: EVENTS_PER_SECOND }),
  };
};

/** Two versions on one stack, a service after the other changed while everything goes on. */
export const versions: Fault[] = [
  fault({
    name: 'the last release upgraded and back, event-router first',
    buildStage: onRelease,
    inject: upgrade(['event-router']),
  }),
  fault({
    name: 'the last release upgraded and back, deliverer first',
    buildStage: onRelease,
    inject: upgrade(['deliverer']),
  }),
  fault({
    name: 'the last release upgraded and back, event-router and deliverer last',
    buildStage: onRelease,
    inject: upgrade(['delivery-log', 'deactivator', 'location-tracker', 'subscription-api']),
  }),
  fault({
    name: 'a version that writes more beside this one, in alarms too',
    buildStage: onThis,
    inject: besideAlarms,
    // A service that ends in an alarm puts retries whose publish the broker reads afterwards all the same.
    repeats: HELD,
  }),
];
