import { setTimeout as sleep } from 'node:timers/promises';
import { serviceNames } from '@waybell/stack/services';
import { Dice } from '../../actions/generate/dice.ts';
import { clockSettings, HOUR_MS, rightClocks, setClocks } from '../../testing/clocks.ts';
import { Fleet } from '../../testing/fleet.ts';
import type { Ledger } from '../../testing/ledger.ts';
import { Receiver } from '../../testing/receiver.ts';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { movingSubscriber } from '../moving-subscriber.ts';
import { addReplica, buildReplicatedStage, removeReplica, replicasOf } from '../replicas.ts';
import { soakSeed } from '../soak.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

/** Eighteen services and three servers beside it. */
const EVENTS_PER_SECOND = { short: 60, release: 100 };
const ROUNDS = { short: 2, release: 20 };
const PAUSE_MS = 1_500;
const settings = {
  ...clockSettings,
  // As in the rows of positions: silence depends on clocks that are set, not on a slow machine.
  GPS_SILENCE: '1h',
  GPS_SWEEP_INTERVAL: '200ms',
  GPS_CLAIM: '20s',
};

/** Breaks something; resolves with what did not hold, and with how many deliverers it killed. */
type Break = (stage: Stage, dice: Dice) => Promise<{ problems: string[]; killed: number }>;

const breaks: Record<string, Break> = {
  async 'three replicas of each service, killed in turn and at random'(stage, dice) {
    let killed = 0;
    const kill = async (name: string, place: number) => {
      if (name === 'deliverer') killed += 1;
      await replicasOf(stage, name)[place]?.kill();
      await sleep(PAUSE_MS / 2 + dice.below(PAUSE_MS));
    };
    for (let round = 0; round < ROUNDS[stage.scale]; round += 1) {
      for (const name of serviceNames) await kill(name, round % replicasOf(stage, name).length);
      for (const name of dice.shuffled(serviceNames)) await kill(name, dice.below(replicasOf(stage, name).length));
    }
    return { problems: [], killed };
  },
  async 'replicas of each service added, and others told to stop'(stage, dice) {
    const problems: string[] = [];
    for (let round = 0; round < ROUNDS[stage.scale]; round += 1) {
      for (const name of dice.shuffled(serviceNames)) {
        await addReplica(stage, name);
        const [first, ...others] = replicasOf(stage, name);
        problems.push(...(await removeReplica(stage, dice.pick(others))));
        if (round === 0) await first?.restart();
      }
    }
    return { problems, killed: 0 };
  },
};

/** Guarantees of single processes hold for several. */
export const replicas: Fault[] = Object.entries(breaks).map(([name, breakIt]) => ({
  row: 'L20',
  name,
  settings,
  buildStage: buildReplicatedStage,
  bars: { duplicates: HELD, movingAgainSeconds: 10, megabytes: 300 },
  run: (stage, ledger) => besideTrucksAndChanges(stage, ledger, breakIt),
}));

/** Trucks drive and a subscription moves meanwhile. */
async function besideTrucksAndChanges(stage: Stage, ledger: Ledger, breakIt: Break): Promise<Course> {
  // The ledger knows nothing of trucks.
  await using beside = await Receiver.start();
  const fleet = await Fleet.assemble({ stack: stage.stack, receiver: beside });
  const move = await movingSubscriber(stage);
  let killed = 0;
  let legs = 0;
  const inject = async () => {
    let isOver = false;
    const drive = async () => {
      for (; !isOver; legs += 1) {
        await fleet.drive();
        await fleet.untilTold();
      }
    };
    const breaking = breakIt(stage, new Dice(soakSeed)).finally(() => (isOver = true));
    const [broken, moved] = await Promise.all([breaking, move(ledger, () => isOver), drive()]);
    killed = broken.killed;
    return [...broken.problems, ...moved];
  };
  const options = { eventsPerSecond: EVENTS_PER_SECOND, check: () => allTold(fleet) };
  const course = await underLoad(inject, options)(stage, ledger);
  const notes = [
    `${killed} deliverers killed (seed ${soakSeed}); ${legs} legs of trucks, ${fleet.told} things told of them`,
  ];
  return { ...course, notes, times: killed };
}

/** Each vehicle on once, every leg, and off once. */
async function allTold(fleet: Fleet): Promise<string[]> {
  fleet.park();
  setClocks(2 * HOUR_MS);
  try {
    await fleet.untilTold();
  } finally {
    rightClocks();
  }
  return [
    ...fleet.missing().map((fact) => `never told: ${fact}`),
    ...fleet.toldTooOften().map((fact) => `told too often: ${fact}`),
  ].slice(0, 10);
}
