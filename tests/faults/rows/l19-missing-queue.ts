import { withConstants } from '@waybell/runtime/gone-settings';
import { prepareBroker } from '@waybell/stack/prepare';
import { retryExchange, retryKey, retryQueue } from '@waybell/line/topology';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { onChannel } from '../../testing/on-channel.ts';
import { scheduleOf } from '../../testing/schedule-of.ts';
import { subscribed } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import { cutConnections } from '../cut-connections.ts';
import type { Fault } from '../fault.ts';
import { faultSettings, HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const ACTION = 'order.paid';
const FAILING_PER_SECOND = 20;
/** First attempts that fail while there is no queue for the second. */
const FAILED = 20;

/** After these, a deliverer looks whether it has the queues that it needs. */
const looks: Record<string, (stage: Stage) => Promise<void>> = {
  reconnects: (stage) => cutConnections(stage, 'deliverer'),
  'is killed': ({ stack }) => stack.stack.service('deliverer').kill(),
};

/** An answer that a receiver gave is kept until what follows from it can be published. */
export const missingQueue: Fault[] = Object.entries(looks).map(([how, look]) => ({
  row: 'L19',
  name: `a retry queue missing, and the deliverer ${how}`,
  bars: { duplicates: how === 'is killed' ? HELD : 0, movingAgainSeconds: 15 },
  run: underLoad((stage, ledger) => withoutRetryQueue(stage, ledger, look)),
}));

async function withoutRetryQueue(
  stage: Stage,
  ledger: Ledger,
  look: (stage: Stage) => Promise<void>,
): Promise<string[]> {
  const { stack, receiver } = stage;
  const delayMs = scheduleOf(stack).shipper[0] ?? 0;
  const queue = retryQueue(`shipper.${ACTION}`, delayMs);
  const failing = { interface: 'shipper', action: ACTION, folder: '/failing', answers: [500, 200] } as const;
  const party = await subscribed(stage, failing);
  const path = party.addresses[0]?.path ?? '';
  using load = new Load({ ledger, parties: [party], eventsPerSecond: FAILING_PER_SECOND });
  await receiver.untilReceived(path, FAILED);
  await onChannel(stack.brokerUrl, async (channel) => {
    // Messages in it would be lost with it.
    await channel.unbindQueue(queue, retryExchange, retryKey(`shipper.${ACTION}`, delayMs));
    await until('nothing waits in it', async () => (await channel.checkQueue(queue)).messageCount === 0);
    await channel.deleteQueue(queue);
  });
  try {
    const before = receiver.at(path).length;
    await receiver.untilReceived(path, before + FAILED);
    await look(stage);
    return await saysSo(stage, queue);
  } finally {
    await prepareBroker({ url: stack.brokerUrl }, withConstants(faultSettings));
    await load.stop();
    await stack.untilReady();
  }
}

/** Returns what is wrong with the deliverer's report of what it waits for. */
async function saysSo({ stack }: Stage, queue: string): Promise<string[]> {
  const deliverer = stack.stack.service('deliverer');
  let said: string | undefined;
  const isSaid = until(
    'the deliverer names the queue, and what to do',
    async () => {
      said = await deliverer.spec.waitsFor();
      return [queue, './waybell declare'].every((part) => said?.includes(part));
    },
    () => said,
  );
  return isSaid.then(() => []).catch((error: unknown) => [String(error)]);
}
