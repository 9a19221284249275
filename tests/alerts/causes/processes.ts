import { setTimeout as sleep } from 'node:timers/promises';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import { freeze } from '../../faults/freeze.ts';

const BEHIND_MS = 8_000;
const CATCHING_UP_MS = 3_000;

export const deliverersStopped: Cause = {
  name: 'no deliverer runs while events come',
  alerts: [
    'WaybellNotWorking/down',
    'WaybellNotConsumed',
    'WaybellLate/routing_paused',
    'WaybellLate/backlog',
    'WaybellEventsNearLimit',
  ],
  instead: { 'WaybellLate/backlog': ['> 100000', '> 100'], WaybellEventsNearLimit: ['> 536870912', '> 10000'] },
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
  name: 'deliverers stand still again and again, and catch up',
  alerts: ['WaybellLate/oldest', 'WaybellLate/attempts'],
  instead: { 'WaybellLate/oldest': ['> 900', '> 6'] },
  async begin(scene) {
    const load = await flow(scene, { eventsPerSecond: 100 });
    const over = new AbortController();
    // Again and again: to catch up may take less than the time between two looks of Prometheus.
    const standing = (async () => {
      while (!over.signal.aborted) {
        const goOn = freeze(scene.stack.stack.service('deliverer'));
        await sleep(BEHIND_MS);
        goOn();
        await sleep(CATCHING_UP_MS);
      }
    })();
    return async () => {
      over.abort();
      await standing;
      await load.stop();
    };
  },
};
