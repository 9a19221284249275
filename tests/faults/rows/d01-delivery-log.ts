import type { ConsumeMessage } from 'amqplib';
import { logQueue, outcomesExchange } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import type { Fault } from '../fault.ts';
import { onChannel } from '../../testing/on-channel.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';

const REPEATED = { short: 20, release: 200 };

/** The log must neither lose nor repeat anything. All of them check every row of the bench. */
const faults: Record<string, Inject> = {
  async 'delivery-log killed in mid-batch'({ stack }) {
    const reader = await stack.postgres.connect();
    try {
      await reader.query('begin; lock table delivery_log.attempts in exclusive mode');
      await until('it waits in the middle of a batch', async () => {
        const { rowCount } = await reader.query(
          `select from pg_locks where relation in (
             select inhrelid from pg_inherits where inhparent = 'delivery_log.attempts'::regclass
             union all select 'delivery_log.attempts'::regclass) and not granted`,
        );
        return rowCount !== null && rowCount > 0;
      });
      await stack.stack.service('delivery-log').kill();
    } finally {
      // Transactions behind it must not wait for ever.
      await reader.query('rollback');
      reader.release();
    }
  },
  'records of outcomes twice more, the last one first': recordsAgain,
};

export const deliveryLog: Fault[] = Object.entries(faults).map(([name, inject]) => ({
  row: 'D1' as const,
  name,
  bars: { duplicates: 0 },
  run: underLoad(inject),
}));

async function recordsAgain(stage: Stage): Promise<void> {
  await onChannel(stage.stack.brokerUrl, async (channel) => {
    const taken: ConsumeMessage[] = [];
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, outcomesExchange, '');
    await channel.consume(queue, (message) => message !== null && taken.push(message), { noAck: true });
    await until('records came', () => taken.length >= REPEATED[stage.scale]);
    for (const { content } of [...taken, ...taken].toReversed())
      channel.sendToQueue(logQueue, content, { persistent: true });
    await channel.waitForConfirms();
  });
}
