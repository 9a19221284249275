import { setTimeout as sleep } from 'node:timers/promises';
import { Detour } from '@waybell/runtime/testing/detour';
import { until } from '@waybell/runtime/testing/until';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { crowds } from '../crowd.ts';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { buildLinkStage } from '../link-stage.ts';
import { partOf, type Scale, type Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const HEARTBEAT_MS = 10_000;
const CUTS = { short: 5, release: 50 };
const CLIENTS = 8;
const BATCHES_PER_SECOND = 16;
const QUICK_MS = 30;
/** Longer than a batch waits for it. */
const SLOW_MS = 3_000;
const ENOUGH = 100;
const BAD_MS = { short: 10_000, release: 30_000 };

/** Faults between the services and the broker; upstream has another connection. */
const faults: Record<string, (detour: Detour, scale: Scale) => Promise<void>> = {
  async 'the way to the broker cut without a word, three heartbeats long'(detour) {
    detour.stall('everything');
    await sleep(3 * HEARTBEAT_MS);
    detour.flow();
  },
  async 'the way to the broker two seconds long'(detour, scale) {
    detour.weather({ latencyMs: 2_000 });
    await sleep(BAD_MS[scale]);
    detour.weather({});
  },
  async 'the way to the broker 16 KB/s narrow'(detour, scale) {
    detour.weather({ bytesPerSecond: 16_000 });
    await sleep(BAD_MS[scale]);
    detour.weather({});
  },
};

export const brokerLink: Fault[] = [
  ...Object.entries(faults).map(([name, inject]): Fault => ({
    row: 'L12',
    name,
    buildStage: buildLinkStage,
    bars: { duplicates: HELD, movingAgainSeconds: 60 },
    run: underLoad((stage) => inject(partOf(stage, Detour), stage.scale)),
  })),
  {
    row: 'L12',
    name: 'the way to the broker cut among batches, Redis away',
    // Shipped settings: slow endpoints have room.
    settings: { REDIS_TIMEOUT: '1s', DELIVER_SLOTS: '', DELIVER_HELD: '' },
    buildStage: buildLinkStage,
    bars: { duplicates: 0, movingAgainSeconds: 60 },
    run: cutAmongBatches,
  },
];

/** Half-done messages are lost from the process, redelivered to it and recognised: no receiver that answered is called twice. */
async function cutAmongBatches(stage: Stage, ledger: Ledger): Promise<Course> {
  const { receiver, stack, scale } = stage;
  const [slow, quick] = [await crowds(stage, CLIENTS, SLOW_MS), await crowds(stage, CLIENTS, QUICK_MS)];
  const parties = slow.flatMap((each) => [each, ...quick, ...quick, ...quick]);
  const redis = stack.stack.servers.process('redis');
  await redis.stop();
  using load = new Load({ ledger, parties, eventsPerSecond: BATCHES_PER_SECOND });
  let movingAgainSeconds = 0;
  for (let cut = 0; cut < CUTS[scale]; cut += 1) {
    const seen = receiver.received.length;
    await until('batches are half done', () => receiver.unanswered > 0 && receiver.received.length > seen + ENOUGH);
    const since = performance.now();
    partOf(stage, Detour).cut();
    movingAgainSeconds = Math.max(movingAgainSeconds, await ledger.movedAgain(since));
  }
  await load.stop();
  const stoppedAt = performance.now();
  await ledger.untilSettled();
  await redis.start();
  return { times: CUTS[scale], movingAgainSeconds, atRestSeconds: (performance.now() - stoppedAt) / 1_000 };
}
