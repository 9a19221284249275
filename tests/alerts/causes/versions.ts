import { until } from '@waybell/runtime/testing/until';
import { readDepths } from '@waybell/stack/queue-depths';
import { sourcesOf } from '../../faults/other-sources.ts';
import { raisesNumbers } from '../../faults/tomorrow.ts';
import { here, runFrom } from '../../faults/two-versions.ts';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';

const OF_THE_LINE = /^waybell\.(deliveries|waiting|ends)/;
const LIMIT_MS = 10_000;

export const newerFormats: Cause = {
  name: 'a later version has come and gone',
  alerts: ['WaybellNewerFormats'],
  async begin(scene) {
    const { stack } = scene.stack;
    const later = await sourcesOf('HEAD', raisesNumbers);
    const load = await flow(scene);
    await runFrom(stack.service('event-router'), later);
    return async () => {
      const { path = '' } = load.party.addresses[0] ?? {};
      await runFrom(stack.service('event-router'), here);
      await load.stop();
      // What they write is read by nothing earlier.
      for (const name of ['deactivator', 'deliverer']) await runFrom(stack.service(name), later);
      const received = () => scene.receiver.at(path).length;
      const isHandled = async () => {
        const depths = await readDepths(
          { url: scene.stack.brokerUrl },
          stack.queues.filter((queue) => OF_THE_LINE.test(queue)),
          LIMIT_MS,
        );
        return depths.every(({ messages }) => messages === 0);
      };
      await until('nothing waits any more', isHandled, received);
      for (const name of ['deliverer', 'deactivator']) await runFrom(stack.service(name), here);
    };
  },
};
