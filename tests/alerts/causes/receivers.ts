import { setTimeout as sleep } from 'node:timers/promises';
import { hungParty } from '../../faults/hung-party.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import type { Scene } from '../scene.ts';

const WAITING = 12_000;
const nobody = { owe: () => undefined };

export const receiverDead: Cause = {
  name: '12,000 wait for a dead receiver',
  alerts: ['WaybellWaitingTooOld/receivers', 'WaybellWaitingTooOld/endpoints', 'WaybellWaitingFull/full'],
  instead: {
    'WaybellWaitingTooOld/endpoints': ['> 64800', '> 5'],
    'WaybellWaitingFull/full': ['> 8500000000', '> 1000000'],
  },
  async begin(scene) {
    const dead = await hungParty(scene, nobody, { interface: 'shipper', action: 'order.delivered', folder: '/dead' });
    await dead.put(WAITING);
    return async () => {
      dead.answer(200);
      await until('nothing waits any more', async () => (await dead.waiting()) === 0, dead.served);
    };
  },
};

const RETRIES_END_MS = 5_000;

/** Ends what comes for receivers that fail, and waits for their last retries. */
async function untilNothingFails({ loads }: Scene): Promise<void> {
  for (const load of loads) load[Symbol.dispose]();
  await sleep(RETRIES_END_MS);
}

export const receiversFail: Cause = {
  name: 'most receivers answer with an error',
  alerts: ['WaybellOwnFaults/most_fail', 'WaybellDeactivationsHeld/held'],
  inWords: { './waybell deactivations discard --all': untilNothingFails },
  async begin(scene) {
    const failing = Array.from({ length: 12 }, () =>
      flow(scene, {
        interface: 'carrier',
        action: 'order.created',
        folder: '/failing',
        answers: [500, 500, 500, 500],
        eventsPerSecond: 2,
      }),
    );
    const all = await Promise.all(failing);
    return () => Promise.all(all.map(({ stop }) => stop()));
  },
};

export const noWayOut: Cause = {
  name: 'no receiver can be reached from here',
  alerts: ['WaybellOwnFaults/egress'],
  async begin(scene) {
    const all = await Promise.all(Array.from({ length: 12 }, () => flow(scene, { eventsPerSecond: 4 })));
    await until('each has had something', () =>
      all.every(({ party }) => scene.receiver.at(party.addresses[0]?.path ?? '').length > 2),
    );
    await scene.receiver.shut();
    return async () => {
      await scene.receiver.open();
      await Promise.all(all.map(({ stop }) => stop()));
    };
  },
};
