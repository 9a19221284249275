import { setTimeout as sleep } from 'node:timers/promises';
import { waybell } from '../comparators/waybell.ts';
import { loopbackAddress } from '../lib/loopback-address.ts';
import { withContender } from '../lib/measure.ts';
import type { Cell } from '../lib/report.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand, type Stand } from '../lib/stand.ts';
import type { Summary } from '../lib/statistics.ts';
import { smallActionKeys } from '../lib/workload.ts';

const HUNG = { from: 0, to: 100, actionKeys: smallActionKeys };
const HEALTHY = { from: 100, to: 10_000, actionKeys: smallActionKeys };
const WORKLOAD = {
  groups: [
    { ...HUNG, weight: 0.1 },
    { ...HEALTHY, weight: 0.9 },
  ],
};
const EVENTS_PER_SECOND = 500;

type Phase = { name: string; perSecond: number; latency: Summary };

export const hungEndpoints: Scenario = {
  name: 'F4',
  description: 'what the healthy notice of endpoints that never answer',
  async run({ isQuick, tell }) {
    const [warmMs, withoutMs, withMs] = isQuick ? [3_000, 8_000, 12_000] : [6_000, 25_000, 70_000];
    tell('without, then setting in');
    const [without, settingIn] = await onStand(async (stand) => [
      await phase(stand, 'all healthy', { hangs: false, warmMs, measureMs: withoutMs }),
      await phase(stand, 'hung, setting in', { hangs: true, warmMs: 0, measureMs: withMs }),
    ]);
    tell('from the start');
    const [fromStart] = await onStand(async (stand) => [
      await phase(stand, 'hung, from the start', { hangs: true, warmMs, measureMs: withMs }),
    ]);
    const phases = [without, settingIn, fromStart].filter((one) => one !== undefined);
    const bars = phases.slice(1).flatMap(({ name, perSecond, latency }) => [
      { what: `${name}: throughput`, figure: perSecond / phases[0]!.perSecond, bar: { atLeast: 0.95 } },
      { what: `${name}: p99, times`, figure: latency.p99 / phases[0]!.latency.p99, bar: { atMost: 1.2 } },
    ]);
    return {
      workload: `${EVENTS_PER_SECOND} events a second to 10,000 subscriptions, each at an address of its own; 1 % of the endpoints get 10 % of the events and never answer, with the limit of 60 s. Measured for ${withoutMs / 1_000} s while all answer, for ${withMs / 1_000} s from the moment when some cease to, and on another stand for ${withMs / 1_000} s after ${warmMs / 1_000} s in which they never did. Figures are those of the healthy endpoints.`,
      settings: { warmMs, withoutMs, withMs },
      rounds: Object.fromEntries(phases.map((one) => [one.name, [one]])),
      tables: [
        {
          title: 'The healthy',
          columns: ['', 'deliveries/s', 'p50, ms', 'p99, ms', 'longest, ms'],
          rows: phases.map(({ name, perSecond, latency: { p50, p99, max } }): Cell[] => [
            name,
            perSecond,
            p50,
            p99,
            max,
          ]),
        },
      ],
      checks: bars,
    };
  },
};

async function onStand(measure: (stand: Stand) => Promise<Phase[]>): Promise<Phase[]> {
  await using stand = await startStand();
  await stand.seed(HUNG, '/hang', loopbackAddress);
  await stand.seed(HEALTHY, '/ok', loopbackAddress);
  return await withContender(stand, waybell, async () => {
    await stand.publisher.call('start', { workload: WORKLOAD, pace: { kind: 'rate', perSecond: EVENTS_PER_SECOND } });
    const phases = await measure(stand);
    await stand.publisher.call('stop');
    // Else it takes the limit of 60 s until the line is empty and stops.
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
