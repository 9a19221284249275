import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { NOTHING } from '../../testing/balance.ts';
import { Fleet } from '../../testing/fleet.ts';
import { replicaOf } from '../../testing/replica.ts';
import { until } from '@waybell/runtime/testing/until';
import { clockSettings, HOUR_MS, rightClocks, setClocks, shiftedClock } from '../../testing/clocks.ts';
import type { Course, Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';

const LEGS = { short: 5, release: 40 };
const KILL_FILE = join(tmpdir(), `waybell-kill-${process.pid}`);
const settings = {
  ...clockSettings,
  // Long enough that no vehicle is silent because a machine is slow: `fallSilent` says when an hour has passed.
  GPS_SILENCE: '1h',
  GPS_SWEEP_INTERVAL: '200ms',
  // Longer than a broker may take to confirm: told again meanwhile, it is told twice where Redis forgets that.
  GPS_CLAIM: '20s',
  NODE_OPTIONS: `${shiftedClock} --import=${new URL('../kill-by-publish.ts', import.meta.url).href}`,
  KILL_FILE,
};

type Way = {
  row: Fault['row'];
  name: string;
  /** Drives the fleet, and breaks something meanwhile. */
  drive: (fleet: Fleet, stage: Stage) => Promise<void>;
  /** Lets the hour of silence pass of a fleet that reports nothing any more, and breaks something meanwhile. */
  silence?: (fleet: Fleet, stage: Stage) => Promise<void>;
  /** Positions may be told again: the memory of them was lost. */
  mayRepeat?: boolean;
};

const ways: Way[] = [
  {
    row: 'G1',
    name: 'tracker killed between its state and the publish',
    async drive(fleet, stage) {
      for (const key of ['vehicle.gps_activated', 'vehicle.driver_location_updated']) {
        killAtPublish(key);
        await fleet.drive();
        await untilKilled(stage);
        await fleet.untilTold();
      }
      await someLegs(fleet, stage);
    },
  },
  {
    row: 'G2',
    name: 'tracker killed between a claim and the publish',
    drive: someLegs,
    async silence(_fleet, stage) {
      killAtPublish('vehicle.gps_deactivated');
      fallSilent();
      await untilKilled(stage);
    },
  },
  {
    row: 'G3',
    name: 'Redis flushed again and again',
    mayRepeat: true,
    drive: (fleet, stage) => whileFlushing(stage, () => someLegs(fleet, stage)),
    silence: (fleet, stage) =>
      whileFlushing(stage, () => {
        fallSilent();
        return fleet.untilTold();
      }),
  },
  {
    row: 'G4',
    name: 'two trackers, and one of them killed',
    async drive(fleet, stage) {
      const tracker = stage.stack.stack.service('location-tracker');
      const second = await replicaOf(tracker);
      try {
        await someLegs(fleet, stage, [0, 0, 0]);
        await tracker.kill();
        await someLegs(fleet, stage, [0, 0, 0]);
      } finally {
        await second.stop();
      }
    },
  },
  {
    row: 'G5',
    name: 'reporters whose clocks differ',
    // An hour ahead, right, a little behind, and so far behind that it is never believed.
    drive: (fleet, stage) => someLegs(fleet, stage, [HOUR_MS, 0, -200, -2 * HOUR_MS]),
  },
];

/** Everything is told that was to be told, and no more often, whatever happens to the tracker meanwhile. */
export const positions: Fault[] = ways.map((way) => ({
  row: way.row,
  name: way.name,
  settings,
  bars: { duplicates: 0, megabytes: 300 },
  run: async (stage) => {
    rmSync(KILL_FILE, { force: true });
    const fleet = await Fleet.assemble(stage);
    await way.drive(fleet, stage);
    fleet.park();
    const parkedAt = performance.now();
    try {
      await (way.silence ?? fallSilent)(fleet, stage);
      await fleet.untilTold();
    } finally {
      rightClocks();
    }
    return { ...courseOf(fleet, way), atRestSeconds: (performance.now() - parkedAt) / 1_000 };
  },
}));

function courseOf(fleet: Fleet, { mayRepeat = false }: Way): Course {
  const tooOften = fleet.toldTooOften().filter((fact) => !mayRepeat || !fact.startsWith('moved'));
  return {
    books: {
      published: fleet.published,
      balance: {
        ...NOTHING,
        forked: [],
        delivered: fleet.told,
        lost: fleet.missing().map((event) => ({ event, why: 'never told' })),
        duplicates: fleet.duplicates,
      },
    },
    problems: tooOften.slice(0, 5).map((fact) => `told too often: ${fact}`),
  };
}

/** Leg by leg, each told before the next: a position that a later one has overtaken need not be. */
async function someLegs(fleet: Fleet, { scale }: Stage, clocksOffMs?: readonly number[]): Promise<void> {
  for (let leg = 0; leg < LEGS[scale]; leg += 1) {
    await fleet.drive(clocksOffMs);
    await fleet.untilTold();
  }
}

/** Makes it look as if no driver had reported for longer than the limit, and Redis may have forgotten the exact time. */
function fallSilent(): void {
  setClocks(2 * HOUR_MS);
}

function killAtPublish(routingKey: string): void {
  // A rename is atomic: with a file that is still empty, the tracker would crash at any write.
  writeFileSync(`${KILL_FILE}-next`, routingKey);
  renameSync(`${KILL_FILE}-next`, KILL_FILE);
}

async function untilKilled({ stack }: Stage): Promise<void> {
  await until('the tracker has died at a publish', () => !existsSync(KILL_FILE));
  await until('and is back', () => stack.stack.service('location-tracker').state === 'ready');
}

async function whileFlushing({ stack }: Stage, work: () => Promise<void>): Promise<void> {
  const redis = new Redis(stack.stack.servers.url('redis'));
  let isOver = false;
  const flushing = (async () => {
    for (; !isOver; await sleep(50)) await redis.flushall();
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await flushing;
    redis.disconnect();
  }
}
