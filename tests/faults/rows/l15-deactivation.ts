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
import { onChannel } from '../../testing/on-channel.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';
import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../testing/ledger.ts';
import { endsAfter, type Addressee, type Ending } from '../../testing/owed.ts';
import { ATTEMPTS, subscribed, type Party, type Subscribed } from '../../testing/subscribers.ts';

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

const ACTION = { shipper: 'order.paid', carrier: 'order.created' };

/** One message fails for the last time just as another is delivered: the subscription goes off all the same. */
async function raceTheLastFailure(stage: Stage, ledger: Ledger): Promise<void> {
  const { party, path, lastFailure } = await aboutToFail(stage, ledger, { side: 'carrier', folder: '/dead' });
  const fail = await lastFailure;
  stage.receiver.answer(path, 200);
  // It is delivered, or finds the subscription off.
  const ends = [...endsAfter([200]), ...endsAfter([], true).filter(({ onceOff }) => onceOff)];
  await ledger.publish(owing(party, ends));
  fail();
}

/** Subscribes again, at another address, while the last attempt for the old one is about to fail: the subscription stays on. */
async function subscribeBeforeTheLastFailure(stage: Stage, ledger: Ledger): Promise<void> {
  const { party, lastFailure } = await aboutToFail(stage, ledger, { side: 'shipper', folder: '/renewed' });
  const fail = await lastFailure;
  const path = `/again/${randomUUID()}`;
  const { subscribe } = await stage.stack.clientOf(party.account, 'shipper');
  const token = await subscribe(ACTION.shipper, stage.receiver.url(path));
  fail();
  await ledger.publish(owing(party, endsAfter([200]), { path, token }));
  await stage.receiver.untilReceived(path, 1);
}

function owing(party: Party, ends: readonly Ending[], moved: Partial<Addressee> = {}): Party {
  return {
    ...party,
    owes: (event) =>
      party.owes(event).map(({ to, ...owed }) => ({ ...owed, ...(to && { to: { ...to, ...moved } }), ends })),
  };
}

/** When the last attempt at its first message has come, `lastFailure` resolves with what lets that fail. */
type AboutToFail = { party: Subscribed; path: string; lastFailure: Promise<() => void> };
type Wanted = { side: 'shipper' | 'carrier'; folder: string };

async function aboutToFail(stage: Stage, ledger: Ledger, { side, folder }: Wanted): Promise<AboutToFail> {
  const answers = Array.from({ length: ATTEMPTS[side] }, () => 500);
  const party = await subscribed(stage, { interface: side, action: ACTION[side], folder, answers });
  const path = party.addresses[0]?.path ?? '';
  const lastFailure = Promise.withResolvers<() => void>();
  stage.receiver.answer(path, (response, { headers }) => {
    const fail = () => void response.writeHead(500).end();
    if (headers['x-webhook-attempt'] === String(ATTEMPTS[side])) lastFailure.resolve(fail);
    else fail();
  });
  await ledger.publish(party);
  return { party, path, lastFailure: lastFailure.promise };
}
