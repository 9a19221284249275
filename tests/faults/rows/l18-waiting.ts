import { setTimeout as sleep } from 'node:timers/promises';
import { ATTEMPTS } from '../../testing/subscribers.ts';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { replicaOf } from '../../testing/replica.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { hungParty, publishFor, type HungParty } from '../hung-party.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const DEAD_HAS = { short: 2_000, release: 100_000 };
const HUNG_FOR_MS = 8_000;
const HUNG_HAS = 40;
/** In addition to the limit of hanging requests. */
const RECOVERED_SECONDS = 5 + 3;
const DRAINED = { short: 2_000, release: 20_000 };
const PUT_PER_SECOND = { short: 100, release: 500 };
const PUT_FIRST = 50;

/** Deliveries that wait for an endpoint hold up no other endpoint, and all arrive, whichever process crashes. */
export const waiting: Fault[] = [
  {
    row: 'L18',
    name: 'an endpoint dead for long beside two that recover',
    // Attempts at what hangs come to their limit, and are made again as shipped.
    settings: { CARRIER_RESPONSE_LIMIT: '3s', CARRIER_RETRY_DELAYS: '1s,2s,4s' },
    bars: { duplicates: 0, movingAgainSeconds: 15 },
    run: underLoad(recoverBesideTheDead),
  },
  {
    row: 'L18',
    name: 'the deliverer killed while deliveries are put into its waiting room',
    bars: { duplicates: HELD, movingAgainSeconds: 15 },
    run: underLoad(killWhileItPuts, { releaseTimes: 5 }),
  },
  {
    row: 'L18',
    name: 'the deliverer killed while it drains what waits',
    bars: { duplicates: HELD, movingAgainSeconds: 15 },
    run: underLoad(killWhileItDrains, { releaseTimes: 5 }),
  },
  {
    row: 'L18',
    name: 'two deliverers drain one endpoint, one restarted, then one stopped',
    bars: { duplicates: 0, movingAgainSeconds: 15 },
    run: underLoad(drainByTwo),
  },
];

const shipper = (folder: string) => ({ interface: 'shipper', action: 'order.booked', folder }) as const;

async function recoverBesideTheDead(stage: Stage, ledger: Ledger): Promise<string[]> {
  const answers = { most: ATTEMPTS.shipper };
  const ends = [
    { kind: 'dropped', reason: 'unsubscribed', answers },
    { kind: 'exhausted', answers },
  ] as const;
  const dead = await hungParty(stage, ledger, { ...shipper('/lifeless'), ends });
  const sibling = await hungParty(stage, ledger, {
    ...shipper('/sibling'),
    action: 'order.paid',
    account: dead.account,
  });
  const carrier = await hungParty(stage, ledger, {
    interface: 'carrier',
    action: 'order.created',
    folder: '/recovering',
  });
  await dead.put(DEAD_HAS[stage.scale]);
  await Promise.all([
    publishFor(dead, ledger, 1),
    publishFor(sibling, ledger, HUNG_HAS),
    publishFor(carrier, ledger, HUNG_HAS),
  ]);
  await sleep(HUNG_FOR_MS);
  sibling.answer(200);
  carrier.recover(200);
  const seconds = await secondsUntil('those that recovered have all of their own', () =>
    [sibling, carrier].every((each) => each.served() === HUNG_HAS),
  );
  const left = await dead.waiting();
  // Its deliveries end with its subscription.
  await (await stage.stack.clientOf(dead.account, 'shipper')).unsubscribe('order.booked');
  let gone = left;
  await until(
    'what waited for the dead is gone',
    async () => {
      // Not closed: over a kept connection each would be sent again. Includes requests that were about to begin.
      dead.answer(500);
      return (gone = await dead.waiting()) === 0;
    },
    () => gone,
  );
  const isLate = stage.scale === 'release' && seconds > RECOVERED_SECONDS;
  return [
    ...(left === 0 ? ['the dead had nothing left: those that recovered may have waited for it'] : []),
    ...(isLate ? [`those that recovered had all of their own after ${seconds} s, at most ${RECOVERED_SECONDS}`] : []),
  ];
}

async function secondsUntil(what: string, look: () => boolean): Promise<number> {
  const since = performance.now();
  await until(what, look);
  return (performance.now() - since) / 1_000;
}

async function killWhileItPuts(stage: Stage, ledger: Ledger): Promise<void> {
  const party = await hungParty(stage, ledger, shipper('/putting'));
  using load = new Load({ ledger, parties: [party], eventsPerSecond: PUT_PER_SECOND[stage.scale] });
  const before = await party.untilWaiting(PUT_FIRST);
  await stage.stack.stack.service('deliverer').kill();
  await party.untilWaiting(before + PUT_FIRST);
  await load.stop();
  party.answer(200);
  await untilDrained(party);
}

async function killWhileItDrains(stage: Stage, ledger: Ledger): Promise<void> {
  const count = DRAINED[stage.scale];
  const party = await draining(stage, ledger, count);
  await until('some have come', () => party.served() > count / 10, party.served);
  await stage.stack.stack.service('deliverer').kill();
  await untilDrained(party);
}

/** Deliveries made meanwhile are drained as well, or overtake it. */
async function drainByTwo(stage: Stage, ledger: Ledger): Promise<void> {
  const count = DRAINED[stage.scale];
  const second = await replicaOf(stage.stack.stack.service('deliverer'));
  try {
    const party = await draining(stage, ledger, count);
    using load = new Load({ ledger, parties: [party], eventsPerSecond: PUT_PER_SECOND[stage.scale] });
    // Whichever had it, the other has it then, and one after the other has it all.
    await until('a third of them have come', () => party.served() > count / 3, party.served);
    await stage.stack.stack.service('deliverer').restart();
    await until('two thirds of them have come', () => party.served() > (count / 3) * 2, party.served);
    await second.stop();
    await load.stop();
    await untilDrained(party);
  } finally {
    await second.stop();
  }
}

/** A subscriber that so many wait for, and that hung until now. */
async function draining(stage: Stage, ledger: Ledger, count: number): Promise<HungParty> {
  const party = await hungParty(stage, ledger, shipper('/draining'));
  await party.put(count);
  await until('it is asked', () => party.open() > 0);
  party.answer(200);
  return party;
}

async function untilDrained(party: HungParty): Promise<void> {
  await until('nothing waits any more', async () => (await party.waiting()) === 0, party.served);
}
