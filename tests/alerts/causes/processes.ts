import { setTimeout as sleep } from 'node:timers/promises';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import { freeze } from '../../faults/freeze.ts';

const STANDS_MS = 500;
const BEHIND_MS = 8_000;

export const deliverersStopped: Cause = {
  name: 'no deliverer runs while events come',
  alerts: [
    'WaybellProcessDown',
    'WaybellQueueWithoutConsumer',
    'WaybellRoutingPaused',
    'WaybellBacklogGrows',
    'WaybellEventsNearLimit',
  ],
  instead: { WaybellBacklogGrows: ['> 100000', '> 100'], WaybellEventsNearLimit: ['> 536870912', '> 10000'] },
  async begin(scene) {
    const deliverer = scene.stack.stack.service('deliverer');
    await deliverer.stop();
    const load = await flow(scene, { eventsPerSecond: 100 });
    return async () => {
      await load.stop();
      await deliverer.start();
    };
  },
};

export const deliverersBehind: Cause = {
  name: 'deliverers have stood still and catch up',
  alerts: ['WaybellOldestDelivery', 'WaybellAttemptsLate'],
  instead: { WaybellOldestDelivery: ['> 900', '> 6'] },
  async begin(scene) {
    const load = await flow(scene);
    const goOn = freeze(scene.stack.stack.service('deliverer'));
    await sleep(BEHIND_MS);
    goOn();
    return load.stop;
  },
};

export const eventLoopBusy: Cause = {
  name: 'a process has no time left',
  alerts: ['WaybellEventLoopBusy'],
  async begin({ stack }) {
    const ended = new AbortController();
    const busy = standStillNowAndThen(() => freeze(stack.stack.service('deactivator')), ended.signal);
    return async () => {
      ended.abort();
      await busy;
    };
  },
};

/** A process that gets no processor and one whose loop is busy look alike from within. */
async function standStillNowAndThen(stop: () => () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const goOn = stop();
    await sleep(STANDS_MS);
    goOn();
    await sleep(STANDS_MS);
  }
}
