import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConsumeMessage } from 'amqplib';
import pg from 'pg';
import { outboxMigration } from '../../packages/publisher/outbox-migration.ts';
import { prepareBroker } from '@waybell/stack/prepare';
import { beginServers } from '@waybell/stack/servers';
import type { OutboxCallerCommands } from '../parts/outbox-caller.ts';
import type { OutboxRelayCommands } from '../parts/outbox-relay.ts';
import type { Parts } from './cpu.ts';
import { startPart, type Part } from './part.ts';

/** A Postgres with the outbox, and a RabbitMQ with the line, on which no service of the line runs. */
export type OutboxStand = AsyncDisposable & {
  caller: Part<OutboxCallerCommands>;
  relay: Part<OutboxRelayCommands>;
  parts: Parts;
  /** How many events the broker has handed to somebody who listens. */
  arrived(): number;
  /** Milliseconds since 1970 at which each arrived, by its guid, since it was last asked. */
  takeArrivals(): Map<string, number>;
  /** Has every event notify, or only those that find the relay asleep. */
  notify(when: 'always' | 'asleep'): Promise<void>;
};

const PROBE = 'if not pg_try_advisory_xact_lock_shared';

export async function startOutboxStand(): Promise<OutboxStand> {
  const home = mkdtempSync(join(tmpdir(), 'waybell-bench-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  const { PATH = '', HOME = '' } = process.env;
  const servers = await beginServers({ home, env: { PATH, HOME }, only: ['postgres', 'rabbitmq'] });
  await Promise.all([servers.ready('postgres'), servers.ready('rabbitmq')]);
  const urls = { postgres: servers.url('postgres'), rabbitmq: servers.url('rabbitmq') };
  await prepareBroker({ url: urls.rabbitmq }, { QUORUM_SIZE: '1' });
  const postgres = new pg.Pool({ connectionString: urls.postgres, max: 1 });
  await postgres.query(`${outboxMigration}; create table orders (id bigint generated always as identity, note text)`);
  const arrivals = await listenTo(urls.rabbitmq);
  const caller = startPart<OutboxCallerCommands>('parts/outbox-caller.ts');
  const relay = startPart<OutboxRelayCommands>('parts/outbox-relay.ts');
  await caller.call('connect', urls.postgres);
  await relay.call('start', urls);
  const pids = (name: 'postgres' | 'rabbitmq') => [servers.process(name).identity?.pid ?? 0];
  return {
    caller,
    relay,
    parts: { caller: [caller.pid], relay: [relay.pid], postgres: pids('postgres'), rabbitmq: pids('rabbitmq') },
    ...arrivals,
    async notify(when) {
      if (!outboxMigration.includes(PROBE)) throw new Error('the function notifies in another way');
      const always = outboxMigration.replace(PROBE, PROBE.replace('if', 'if true or'));
      await postgres.query(when === 'always' ? always : outboxMigration);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([caller.stop(), relay.call('stop').then(() => relay.stop()), arrivals.close(), postgres.end()]);
      await servers.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function listenTo(url: string) {
  const connection = await connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, 'waybell.events', '#');
  let arrived = 0;
  let times = new Map<string, number>();
  const hear = (message: ConsumeMessage | null) => {
    if (message === null) return;
    arrived += 1;
    times.set(String(message.properties.messageId), performance.timeOrigin + performance.now());
  };
  await channel.consume(queue, hear, { noAck: true });
  return {
    arrived: () => arrived,
    takeArrivals() {
      const taken = times;
      times = new Map();
      return taken;
    },
    close: () => connection.close(),
  };
}
