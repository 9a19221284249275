import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { until } from '@waybell/runtime/testing/until';
import { type OutboxPool, outboxEvent, readOutboxFigures } from '../../packages/publisher/outbox.ts';
import { outboxMigration } from '../../packages/publisher/outbox-migration.ts';
import { createPublisher } from '../../packages/publisher/publisher.ts';
import { createRelay } from '../../packages/publisher/relay.ts';
import { receiver, stack } from './stand.ts';

const EVENTS = 20;

/** A pool whose first connection is lost when its events are confirmed and not yet removed. */
function losingOnce(pool: pg.Pool): OutboxPool {
  let isLost = false;
  return {
    async connect() {
      const connection = await pool.connect();
      const { query } = connection;
      const lose = async (...asked: Parameters<typeof query>) => {
        if (!isLost && asked[0].startsWith('delete')) {
          isLost = true;
          await pool.query('select pg_terminate_backend($1)', [Reflect.get(connection, 'processID')]);
        }
        return query.apply(connection, asked);
      };
      return Object.assign(connection, { query: lose as typeof query });
    },
  };
}

export function outbox(): void {
  describe('an outbox', () => {
    test('has each event notified once, though a relay that lost its database sent all of them twice', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/outbox'));
      // Upstream's own database, as upstream connects to it.
      await using closing = new AsyncDisposableStack();
      const pool = closing.adopt(new pg.Pool({ connectionString: stack.stack.servers.url('postgres') }), (opened) =>
        opened.end(),
      );
      pool.on('error', () => undefined);
      await pool.query(outboxMigration);
      for (let id = 0; id < EVENTS; id += 1) {
        const { text, values } = outboxEvent({
          interface: 'carrier',
          action: 'order.created',
          parties: { carrier: carrier.account },
          payload: { id, status: 'new' },
        });
        await pool.query(text, values);
      }
      const publisher = createPublisher({ url: stack.brokerUrl });
      const relay = createRelay({ pool: losingOnce(pool), publisher });
      await until('the outbox is empty', async () => (await readOutboxFigures(pool)).waiting === 0);
      expect(publisher.figures().confirmed).toBe(2 * EVENTS);
      // An event after all of them is delivered after all of them.
      await publisher.publish({
        interface: 'carrier',
        action: 'order.created',
        parties: { carrier: carrier.account },
        payload: { id: EVENTS, status: 'last' },
      });
      await receiver.untilReceived('/outbox', EVENTS + 1);
      const orders = receiver.at('/outbox').map(({ body }) => JSON.parse(body).data.id);
      expect(orders.toSorted((one, other) => one - other)).toEqual(Array.from({ length: EVENTS + 1 }, (_, id) => id));
      await relay.close();
      await publisher.close();
    });
  });
}
