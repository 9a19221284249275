import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel } from 'amqplib';
import { readEnds, writeEnds } from '@waybell/line/outcome-batch';
import { isRejection } from '@waybell/line/messages';
import { deactivatorQueue } from '@waybell/line/topology';
import { Dice } from '../../actions/generate/dice.ts';
import { logOf, replicaOf } from '../../testing/replica.ts';
import { takeAll } from '../../testing/take-all.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Fault } from '../fault.ts';
import { raceTheLastFailure, subscribeBeforeTheLastFailure } from '../last-failures.ts';
import { onChannel } from '../../testing/on-channel.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';

const AS_ENDS_COME = 3_000;
const AT_ONCE = 10;

const faults: Record<string, Inject> = {
  async 'ends doubled, shuffled and late, to two deactivators'(stage) {
    const deactivator = stage.stack.stack.service('deactivator');
    await deactivator.stop();
    await sleep(AS_ENDS_COME);
    await onChannel(stage.stack.brokerUrl, doubleAndShuffle);
    await deactivator.start();
    await besideAnother(stage, () => sleep(AS_ENDS_COME));
  },
  async 'successes and new subscriptions beside last failures, two deactivators'(stage, ledger) {
    const each = Array.from({ length: AT_ONCE }, () => [
      raceTheLastFailure(stage, ledger),
      subscribeBeforeTheLastFailure(stage, ledger),
    ]);
    await besideAnother(stage, () => Promise.all(each.flat()));
  },
};

/** However ends come, and whatever comes between them: subscriptions go off when the rules say, once, and no other does. */
export const deactivation: Fault[] = Object.entries(faults).map(([name, inject]) => ({
  row: 'L15',
  name,
  // A shipper's new subscription is the same row, where records of the old one might do harm.
  settings: { DEACTIVATE_ON_EXHAUSTED: 'shipper,carrier' },
  bars: { duplicates: 0 },
  run: underLoad(inject, { check: offOnce }),
}));

async function besideAnother({ stack }: Stage, work: () => Promise<unknown>): Promise<void> {
  const second = await replicaOf(stack.stack.service('deactivator'));
  try {
    await work();
  } finally {
    await second.stop();
  }
}

/** Takes every batch that waits, and puts its ends back one by one, twice each, in another order. */
async function doubleAndShuffle(channel: Channel): Promise<void> {
  const taken = await takeAll(channel, deactivatorQueue);
  const batches = taken.map(({ content }) => readEnds({ body: content }));
  const ends = batches.flatMap((batch) => (isRejection(batch) ? [] : batch));
  for (const end of new Dice(ends.length).shuffled([...ends, ...ends])) {
    channel.sendToQueue(deactivatorQueue, writeEnds([end]), { persistent: true });
  }
}

/** Subscriptions with failures only are off and were announced once; no other is off. */
async function offOnce({ stack }: Stage): Promise<string[]> {
  const { rows } = await stack.postgres.query<{ guid: string; isActive: boolean; isDead: boolean }>(
    `select guid, is_active as "isActive", callback_url like '%/dead/%' as "isDead" from waybell.subscriptions`,
  );
  const { spec } = stack.stack.service('deactivator');
  const specs = [spec, { ...spec, logFile: spec.logFile.replace(/\.log$/, '-2.log') }];
  const announced = () =>
    specs
      .flatMap(logOf)
      .filter(({ msg }) => msg === 'subscription.deactivated')
      .map(({ subscription }) => subscription);
  await until(
    'all that was announced is in the logs',
    () => announced().length >= rows.filter((row) => row.isDead).length,
  );
  return rows
    .map((row) => ({ ...row, times: announced().filter((guid) => guid === row.guid).length }))
    .filter(({ isActive, isDead, times }) => isActive === isDead || times !== (isDead ? 1 : 0))
    .map(({ guid, isActive, times }) => `${guid} is ${isActive ? 'on' : 'off'}, announced ${times} times`);
}
