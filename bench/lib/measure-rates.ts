import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningContender } from '../comparators/contender.ts';
import { throughputOf, warmUpMs, type Throughput } from './measure.ts';
import type { Effort } from './scenario.ts';
import { countsPer, readServerCounts, TOLD_AFTER_MS, type ServerCounts } from './server-counts.ts';
import type { Stand } from './stand.ts';
import { overWindows, type Summary, type WindowLatency } from './statistics.ts';
import { wakeUpsBetween, wakeUpsOf } from './wake-ups.ts';
import type { Workload } from './workload.ts';

/** A contender at an even rate. Latency in ms. */
export type AtRate = Throughput & {
  latency: WindowLatency;
  /** Counts of the servers for a delivery. */
  counts: ServerCounts;
  /** Wake-ups of each part for a delivery. */
  wakeUps: Record<string, number>;
};

/** Results by the rate, in events a second. */
export type AtRates = Record<number, AtRate>;

export type RateTimes = {
  /** After the start of a contender. */
  warmMs: number;
  /** After a change of rate: until idle sessions have told Postgres what they did before, where the run is not quick. */
  settleMs: number;
  measureMs: number;
};

type Rates = { workload: Workload; rates: readonly number[]; times: RateTimes };

/** Long enough for 20 deliveries at 10 a second, short enough that a stall of the machine disturbs one window of many. */
export const WINDOW_MS = 2_000;

/** `quickMs`: how long each rate is measured where the run is quick. */
export function rateTimes({ isQuick }: Pick<Effort, 'isQuick'>, quickMs: number): RateTimes {
  return {
    warmMs: warmUpMs({ isQuick }),
    settleMs: isQuick ? 3_000 : TOLD_AFTER_MS,
    measureMs: isQuick ? quickMs : 60_000,
  };
}

/** Measures a contender, which has just been started, at one rate after the other: begin with the highest, as it warms up best. */
export async function measureRates(
  stand: Stand,
  running: RunningContender,
  { workload, rates, times }: Rates,
): Promise<AtRates> {
  const measured: AtRates = {};
  for (const [place, perSecond] of rates.entries()) {
    await stand.publisher.call('start', { workload, pace: { kind: 'rate', perSecond } });
    await sleep(place === 0 ? times.warmMs : times.settleMs);
    measured[perSecond] = await measureNow(stand, running, times.measureMs);
    await stand.publisher.call('stop');
  }
  return measured;
}

async function measureNow(stand: Stand, running: RunningContender, measureMs: number): Promise<AtRate> {
  const parts = { ...stand.parts, ...running.parts };
  const count = async () => ({
    servers: await readServerCounts(stand.stack, stand.postgres),
    requests: await stand.receiver.call('requests'),
  });
  const began = await count();
  const asleep = wakeUpsOf(parts);
  const windows: Summary[] = [];
  const throughput = await throughputOf(stand, parts, async () => {
    for (let ms = 0; ms < measureMs; ms += WINDOW_MS) windows.push(await timeWindow(stand));
  });
  const woken = Object.entries(wakeUpsBetween(asleep, wakeUpsOf(parts)));
  const ended = await count();
  return {
    ...throughput,
    latency: overWindows(windows),
    counts: countsPer(ended.requests - began.requests, began.servers, ended.servers),
    wakeUps: Object.fromEntries(woken.map(([part, wakeUps]) => [part, wakeUps / throughput.deliveries])),
  };
}

async function timeWindow({ receiver }: Stand): Promise<Summary> {
  await receiver.call('time');
  await sleep(WINDOW_MS);
  return (await receiver.call('received')).latency;
}
