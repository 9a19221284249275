import { setTimeout as sleep } from 'node:timers/promises';
import { waybell } from '../comparators/waybell.ts';
import { withContender } from '../lib/measure.ts';
import type { Cell } from '../lib/report.ts';
import type { Effort, Scenario } from '../lib/scenario.ts';
import { startStand, type Stand } from '../lib/stand.ts';
import type { Summary } from '../lib/statistics.ts';
import { loopbackAddress, smallActionKeys, type Group } from '../lib/workload.ts';

/** The endpoints that hang and those that do not, their addresses, and how many events there are for them. */
type EndpointGroup = {
  what: string;
  hung: Group;
  healthy: Group;
  hostOf?: (n: number) => string;
  eventsPerSecond: number;
};

const HUNG_SHARE = 0.1;
const DELIVERIES_PER_SECOND = 500;
const CLIENTS = 10;
const ACTIONS = 10;

const manyHosts: EndpointGroup = {
  what: '10,000 subscriptions, each at an address of its own; 1 % of the endpoints get 10 % of the events and never answer',
  hung: { from: 0, to: 100, actionKeys: smallActionKeys },
  healthy: { from: 100, to: 10_000, actionKeys: smallActionKeys },
  hostOf: loopbackAddress,
  eventsPerSecond: DELIVERIES_PER_SECOND,
};

const oneHost: EndpointGroup = {
  what: `200 endpoints of one account on one host, ${CLIENTS} for each of ${2 * ACTIONS} actions; half of them get 10 % of the events and never answer`,
  hung: { from: 0, to: 100, actionKeys: smallActionKeys.slice(0, ACTIONS), account: 0 },
  healthy: { from: 100, to: 200, actionKeys: smallActionKeys.slice(ACTIONS, 2 * ACTIONS), account: 0 },
  eventsPerSecond: DELIVERIES_PER_SECOND / CLIENTS,
};

type Phase = { name: string; perSecond: number; latency: Summary };

export const hungEndpoints: Scenario = {
  name: 'F4',
  description: 'what the healthy notice of endpoints that never answer',
  run: (effort) => beside(manyHosts, effort),
};

export const hungHost: Scenario = {
  name: 'one-host',
  description: 'as F4, all endpoints those of one account on one host, half of them hung',
  run: (effort) => beside(oneHost, effort),
};

async function beside(endpoints: EndpointGroup, { isQuick, announce }: Effort): ReturnType<Scenario['run']> {
  const [warmMs, withoutMs, withMs] = isQuick ? [3_000, 8_000, 12_000] : [6_000, 25_000, 70_000];
  announce('without, then setting in');
  const [without, settingIn] = await onStand(endpoints, async (stand) => [
    await phase(stand, 'all healthy', { hangs: false, warmMs, measureMs: withoutMs }),
    await phase(stand, 'hung, setting in', { hangs: true, warmMs: 0, measureMs: withMs }),
  ]);
  announce('from the start');
  const [fromStart] = await onStand(endpoints, async (stand) => [
    await phase(stand, 'hung, from the start', { hangs: true, warmMs, measureMs: withMs }),
  ]);
  const phases = [without, settingIn, fromStart].filter((one) => one !== undefined);
  const bars = phases.slice(1).flatMap(({ name, perSecond, latency }) => [
    { what: `${name}: throughput`, figure: perSecond / phases[0]!.perSecond, bar: { atLeast: 0.95 } },
    { what: `${name}: p99, times`, figure: latency.p99 / phases[0]!.latency.p99, bar: { atMost: 1.2 } },
  ]);
  return {
    workload: `${endpoints.eventsPerSecond} events a second to ${endpoints.what}, with the limit of 60 s. Measured for ${withoutMs / 1_000} s while all answer, for ${withMs / 1_000} s from the moment when some cease to, and on another stand for ${withMs / 1_000} s after ${warmMs / 1_000} s in which they never did. Figures are those of the healthy endpoints.`,
    settings: { warmMs, withoutMs, withMs },
    rounds: Object.fromEntries(phases.map((one) => [one.name, [one]])),
    tables: [
      {
        title: 'The healthy',
        columns: ['', 'deliveries/s', 'p50, ms', 'p99, ms', 'longest, ms'],
        rows: phases.map(({ name, perSecond, latency: { p50, p99, max } }): Cell[] => [name, perSecond, p50, p99, max]),
      },
    ],
    checks: bars,
  };
}

async function onStand(endpoints: EndpointGroup, measure: (stand: Stand) => Promise<Phase[]>): Promise<Phase[]> {
  const { hung, healthy, hostOf, eventsPerSecond: perSecond } = endpoints;
  await using stand = await startStand();
  await stand.seed(hung, '/hang', hostOf);
  await stand.seed(healthy, '/ok', hostOf);
  const groups = [
    { ...hung, weight: HUNG_SHARE },
    { ...healthy, weight: 1 - HUNG_SHARE },
  ];
  return await withContender(stand, waybell, async () => {
    await stand.publisher.call('start', { workload: { groups }, pace: { kind: 'rate', perSecond } });
    const phases = await measure(stand);
    await stand.publisher.call('stop');
    // Otherwise it takes the limit of 60 s until the line is empty and stops.
    await stand.receiver.call('hang', false);
    return phases;
  });
}

type Watch = { hangs: boolean; warmMs: number; measureMs: number };

async function phase({ receiver }: Stand, name: string, { hangs, warmMs, measureMs }: Watch): Promise<Phase> {
  await receiver.call('hang', hangs);
  await sleep(warmMs);
  await receiver.call('time');
  await sleep(measureMs);
  const { latency } = await receiver.call('received');
  return { name, perSecond: latency.count / (measureMs / 1_000), latency };
}
