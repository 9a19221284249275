import { setTimeout as sleep } from 'node:timers/promises';
import { readFigures } from '@waybell/stack/read-figures';
import { until } from '@waybell/runtime/testing/until';
import { anEvent } from '../../testing/event.ts';
import { subscribed, type Party } from '../../testing/subscribers.ts';
import { alarmed } from '../alarmed.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { publishFor } from '../hung-party.ts';
import { lastRelease, sourcesOf, type Edit } from '../other-sources.ts';
import { replicasOf } from '../replicas.ts';
import type { Scale, Settings, Stage } from '../stage.ts';
import { addsToAll, knowsMore, raisesNumbers } from '../tomorrow.ts';
import { buildStageOf, here, prepare, rollAndBack, runFrom, type Sources } from '../two-versions.ts';
import { underLoad, type Inject } from '../under-load.ts';

/** Twelve services and three servers beside it. */
const EVENTS_PER_SECOND = { short: 60, release: 100 };
const ALARM_MS = 2_000;
/** Short waits come round twice in that time. */
const NEWER_MS = 12_000;
const ARCHIVED = 50;

const once = <T>(make: () => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
};
const release = once(() => sourcesOf(lastRelease()));
const tomorrow = (edits: readonly Edit[]) => once(() => sourcesOf('HEAD', edits));
const adding = tomorrow(addsToAll);
const raising = tomorrow(raisesNumbers);
const knowing = tomorrow(knowsMore);

const onRelease = async (settings: Settings, scale: Scale) => buildStageOf(await release(), settings, scale);
const onThis = (settings: Settings, scale: Scale) => buildStageOf(here, settings, scale);
/** The same, and not in the place of it: a fault that leaves its stage to none. */
const onThisAlone = (settings: Settings, scale: Scale) => buildStageOf(here, settings, scale);
const onThisForMore = (settings: Settings, scale: Scale) => buildStageOf(here, settings, scale);

/** Queues and tables first, as an upgrade goes, then the services in that order, and back. */
const upgrade =
  (first: readonly string[]): Inject =>
  async (stage) => {
    await prepare(stage, here);
    await rollAndBack(stage, { first, from: await release(), to: here });
  };

/** Deliveries, records and ends are kept by one version, and sent on by the other. */
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

/** Half of the events become what no deliverer here reads; then one comes that does, and a deactivator for what it tells. */
const waitedFor: Inject = async (stage) => {
  const later = await raising();
  await second(stage, 'event-router', later);
  await sleep(NEWER_MS);
  await until('deliveries of a later format wait', async () => (await newerIn(stage, 'deliverer')) > 0);
  await second(stage, 'deliverer', later);
  await until('ends of a later format wait', async () => (await newerIn(stage, 'deactivator')) > 0);
  await sleep(NEWER_MS);
  await second(stage, 'deactivator', later);
};

/** Rejected until a later version is declared, and waited for from then on: by another key it is rejected still. */
const knownLater: Inject = async (stage, ledger) => {
  const [later, { upstream }] = [await knowing(), stage.stack];
  const publishNonsense = async (key: string, reason: string) => {
    const body = JSON.stringify({ ...anEvent({ interface: 'carrier', action: 'order.archived', parties: {} }) });
    await upstream.publishRaw(key, Buffer.from(body));
    ledger.malformed.push({ body, reason });
  };
  await publishNonsense('carrier.order.archived', 'unroutable');
  await prepare(stage, later);
  await publishNonsense('carrier.order.cancelled', 'unknown_action');
  await runFrom(stage.stack.stack.service('subscription-api'), later);
  await publishFor(await archiving(stage), ledger, ARCHIVED);
  await until('they wait', async () => (await newerIn(stage, 'event-router')) >= ARCHIVED);
  await sleep(NEWER_MS);
  await second(stage, 'event-router', later);
  await second(stage, 'deliverer', later);
};

/** Events of the action that only a later version knows: what they become differs from those of another by its name alone. */
async function archiving(stage: Stage): Promise<Party> {
  const [action, known] = ['order.archived', 'order.cancelled'];
  const party = await subscribed(stage, { interface: 'carrier', action, folder: '/archived', answers: [200] });
  return {
    anEvent: party.anEvent,
    owes: (event) =>
      party.owes({ ...event, action: known }).map(({ to, ...owed }) => ({
        ...owed,
        ...(to !== undefined && { to: { ...to, body: to.body.replace(known, action) } }),
      })),
  };
}

async function second(stage: Stage, name: string, sources: Sources): Promise<void> {
  const [, replica] = replicasOf(stage, name);
  if (replica !== undefined) await runFrom(replica, sources);
}

async function newerIn(stage: Stage, name: string): Promise<number> {
  const figures = await Promise.all(replicasOf(stage, name).map(({ spec }) => readFigures(spec.health ?? '')));
  return figures.reduce((sum, each) => sum + (each?.sumOf('waybell_newer_formats_total') ?? 0), 0);
}

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
    // A service that ends in an alarm has retries kept whose publish the broker reads afterwards all the same.
    repeats: HELD,
  }),
  fault({ name: 'formats that only a later version reads', buildStage: onThisAlone, inject: waitedFor }),
  fault({ name: 'an action that only a later version knows', buildStage: onThisForMore, inject: knownLater }),
];
