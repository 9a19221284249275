import pg from 'pg';
import { createPublisher, type Publisher } from '../../packages/publisher/publisher.ts';
import { createRelay, type Relay } from '../../packages/publisher/relay.ts';
import { serve } from '../lib/part.ts';

/** A relay as upstream would run it, alone in its process. */
export type OutboxRelayCommands = typeof commands;

let running: { pool: pg.Pool; publisher: Publisher; relay: Relay } | undefined;

const commands = {
  start(urls: { postgres: string; rabbitmq: string }): void {
    const pool = new pg.Pool({ connectionString: urls.postgres, max: 1 });
    const publisher = createPublisher({ url: urls.rabbitmq });
    running = { pool, publisher, relay: createRelay({ pool, publisher }) };
  },

  /** Events that were confirmed and removed. */
  published: (): number => running?.relay.figures().published ?? 0,

  async stop(): Promise<void> {
    await running?.relay.close();
    await running?.publisher.close();
    await running?.pool.end();
  },
};

serve(commands);
