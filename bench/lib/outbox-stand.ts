import { withConstants } from '@waybell/runtime/gone-settings';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConsumeMessage } from 'amqplib';
import pg from 'pg';
import { outboxMigration } from '../../packages/publisher/outbox-migration.ts';
import { prepareBroker } from '@waybell/stack/prepare';
import { beginServers } from '@waybell/stack/servers';
import { requireProgram } from '@waybell/stack/supervised-process';
import type { OutboxCallerCommands } from '../parts/outbox-caller.ts';
import type { OutboxRelayCommands } from '../parts/outbox-relay.ts';
import type { Parts } from './processes.ts';
import { startPart, type BenchPart } from './part.ts';

/** A Postgres with the outbox, and a RabbitMQ with the line, on which no service of the line runs. */
export type OutboxStand = AsyncDisposable & {
  caller: BenchPart<OutboxCallerCommands>;
  relay: BenchPart<OutboxRelayCommands>;
  parts: Parts;
  /** Listens to what is published from now on, until it is closed. */
  listen(): Promise<OutboxListener>;
  /** Has every event notify, or only those that find the relay asleep. */
  notify(when: 'always' | 'asleep'): Promise<void>;
};

/** When each event arrived, ms since 1970, by its guid. */
export type OutboxListener = { arrivals: ReadonlyMap<string, number>; close: () => Promise<void> };

const PROBE = 'if not pg_try_advisory_xact_lock_shared';

export async function startOutboxStand(): Promise<OutboxStand> {
  const home = mkdtempSync(join(tmpdir(), 'waybell-bench-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  const { PATH = '', HOME = '' } = process.env;
  const servers = await beginServers({ home, env: { PATH, HOME }, only: ['postgres', 'rabbitmq'] });
  await Promise.all([servers.ready('postgres'), servers.ready('rabbitmq')]);
  const urls = { postgres: servers.url('postgres'), rabbitmq: servers.url('rabbitmq') };
  await prepareBroker({ url: urls.rabbitmq }, withConstants({ QUORUM_SIZE: '1' }));
  const postgres = new pg.Pool({ connectionString: urls.postgres, max: 1 });
  await postgres.query(`${outboxMigration}; create table orders (id bigint generated always as identity, note text)`);
  const caller = startPart<OutboxCallerCommands>('parts/outbox-caller.ts');
  const relay = startPart<OutboxRelayCommands>('parts/outbox-relay.ts');
  await caller.call('connect', urls.postgres);
  await relay.call('start', urls);
  const pids = (name: 'postgres' | 'rabbitmq') => {
    requireProgram(servers.process(name).spec);
    return [servers.process(name).identity?.pid ?? 0];
  };
  return {
    caller,
    relay,
    parts: { caller: [caller.pid], relay: [relay.pid], postgres: pids('postgres'), rabbitmq: pids('rabbitmq') },
    listen: () => listenTo(urls.rabbitmq),
    async notify(when) {
      if (!outboxMigration.includes(PROBE)) throw new Error('the function notifies in another way');
      const always = outboxMigration.replace(PROBE, PROBE.replace('if', 'if true or'));
      await postgres.query(when === 'always' ? always : outboxMigration);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([caller.stop(), relay.call('stop').then(() => relay.stop()), postgres.end()]);
      await servers.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function listenTo(url: string): Promise<OutboxListener> {
  const connection = await connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, 'waybell.events', '#');
  const arrivals = new Map<string, number>();
  const hear = (message: ConsumeMessage | null) => {
    if (message !== null)
      arrivals.set(String(message.properties.messageId), performance.timeOrigin + performance.now());
  };
  await channel.consume(queue, hear, { noAck: true });
  return { arrivals, close: () => connection.close() };
}
