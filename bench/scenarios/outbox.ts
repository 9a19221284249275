import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type ConsumeMessage } from 'amqplib';
import pg from 'pg';
import { withConstants } from '@waybell/runtime/gone-settings';
import { prepareBroker } from '@waybell/stack/prepare';
import { beginServers } from '@waybell/stack/servers';
import { requireProgram } from '@waybell/stack/supervised-process';
import { outboxMigration } from '../../packages/publisher/outbox-migration.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { startPart, type BenchPart } from '../lib/part.ts';
import { cpuBetween, cpuOf, type CpuMicros, type Parts } from '../lib/processes.ts';
import type { Scenario } from '../lib/scenario.ts';
import { spread, summarise, type Summary } from '../lib/statistics.ts';
import type { OutboxCallerCommands } from '../parts/outbox-caller.ts';
import type { OutboxRelayCommands } from '../parts/outbox-relay.ts';

const PACED_PER_SECOND = 500;
const CALLERS = 16;
const DRAIN_POLL_MS = 10;
/** The condition on which the outbox function notifies: the relay is asleep. */
const IS_ASLEEP = 'if not pg_try_advisory_xact_lock_shared';

type OutboxTurn = { name: string; notifies: 'always' | 'asleep'; eventsEach: number };
const TURNS: readonly [OutboxTurn, OutboxTurn, OutboxTurn] = [
  { name: 'one event each', notifies: 'asleep', eventsEach: 1 },
  { name: 'ten events each', notifies: 'asleep', eventsEach: 10 },
  { name: 'one each, always notified', notifies: 'always', eventsEach: 1 },
];

/** `perSecond`: until the last of them was with the broker. */
type OutboxResult = { committedPerSecond: number; perSecond: number; cpu: CpuMicros; latency: Summary };
type OutboxResults = ReadonlyMap<string, readonly OutboxResult[]>;

export const outbox: Scenario = {
  name: 'outbox',
  description: 'events a second through the outbox of Postgres, and the time from commit to broker',
  async run({ isQuick, rounds, announce }) {
    const [warmMs, measureMs] = isQuick ? [2_000, 4_000] : [4_000, 15_000];
    await using stand = await startOutboxStand();
    const runs = await inTurn({ contenders: TURNS, rounds, announce }, async (turn) => {
      await stand.notify(turn.notifies);
      await measureFull(stand, turn, warmMs);
      return { ...(await measureFull(stand, turn, measureMs)), latency: await measurePaced(stand, measureMs) };
    });
    const figures = (name: string, of: (result: OutboxResult) => number) => spread((runs.get(name) ?? []).map(of));
    const [one, ten, always] = TURNS.map(({ name }) => name) as [string, string, string];
    return {
      workload: `${CALLERS} callers, each in its transactions: a row of its own and events of 400 bytes, put into the outbox by the checked statement; one relay with one connection; RabbitMQ with the line and nothing that takes from it. Published are those that the broker has confirmed and the relay removed. Postgres as it comes, every commit on disk. Then ${PACED_PER_SECOND} transactions of one event a second, and a consumer that notes when each arrives.`,
      settings: { rounds, warmMs, measureMs },
      rounds: Object.fromEntries(runs),
      tables: [speedTable(runs), latencyTable(runs)],
      checks: [
        { what: 'events a second, ten each', figure: figures(ten, (each) => each.perSecond), bar: { atLeast: 5_000 } },
        {
          what: 'p50 from commit to broker, ms',
          figure: figures(one, ({ latency }) => latency.p50),
          bar: { atMost: 20 },
        },
        {
          what: 'commits a second, of those that always notify',
          figure: ratios(runs, one, always, (each) => each.committedPerSecond),
          bar: { atLeast: 1 },
        },
      ],
    };
  },
};

/** A Postgres with the outbox, and a RabbitMQ with the line, on which no service of the line runs. */
type OutboxStand = AsyncDisposable & {
  caller: BenchPart<OutboxCallerCommands>;
  relay: BenchPart<OutboxRelayCommands>;
  parts: Parts;
  /** Listens to what is published from now on, until it is closed. */
  listen(): Promise<OutboxListener>;
  /** Has every event notify, or only those that find the relay asleep. */
  notify(when: 'always' | 'asleep'): Promise<void>;
};

/** When each event arrived, ms since 1970, by its guid. */
type OutboxListener = { arrivals: ReadonlyMap<string, number>; close: () => Promise<void> };

async function startOutboxStand(): Promise<OutboxStand> {
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
      if (!outboxMigration.includes(IS_ASLEEP)) throw new Error('the function notifies in another way');
      const always = outboxMigration.replace(IS_ASLEEP, IS_ASLEEP.replace('if', 'if true or'));
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

async function measureFull(
  stand: OutboxStand,
  { eventsEach }: OutboxTurn,
  forMs: number,
): Promise<Omit<OutboxResult, 'latency'>> {
  const published = () => stand.relay.call('published');
  const before = { cpu: cpuOf(stand.parts), published: await published(), at: performance.now() };
  const committed = await stand.caller.call('full', { callers: CALLERS, eventsEach, forMs });
  const committedMs = performance.now() - before.at;
  while ((await published()) < before.published + committed) await sleep(DRAIN_POLL_MS);
  const ms = performance.now() - before.at;
  const cpu = cpuBetween(before.cpu, cpuOf(stand.parts));
  return {
    committedPerSecond: (committed / committedMs) * 1_000,
    perSecond: (committed / ms) * 1_000,
    cpu: Object.fromEntries(Object.entries(cpu).map(([part, micros]) => [part, micros / committed])),
  };
}

async function measurePaced(stand: OutboxStand, forMs: number): Promise<Summary> {
  const { arrivals, close } = await stand.listen();
  const committed = await stand.caller.call('paced', { perSecond: PACED_PER_SECOND, forMs });
  while (arrivals.size < committed.length) await sleep(DRAIN_POLL_MS);
  await close();
  return summarise(committed.map(([guid, at]) => (arrivals.get(guid) ?? Number.NaN) - at));
}

function speedTable(runs: OutboxResults) {
  return {
    title: 'Events a second, and CPU of each, µs',
    columns: ['', 'committed/s', 'published/s', 'caller', 'relay', 'postgres', 'rabbitmq'],
    rows: [...runs].map(([name, all]) => [
      name,
      spread(all.map((each) => each.committedPerSecond)),
      spread(all.map((each) => each.perSecond)),
      ...['caller', 'relay', 'postgres', 'rabbitmq'].map((part) =>
        spread(all.map(({ cpu }) => cpu[part] ?? Number.NaN)),
      ),
    ]),
  };
}

function latencyTable(runs: OutboxResults) {
  return {
    title: `From commit to broker at ${PACED_PER_SECOND} a second, ms`,
    columns: ['', 'p50', 'p99', 'longest'],
    rows: [...runs].map(([name, all]) => [
      name,
      ...(['p50', 'p99', 'max'] as const).map((figure) => spread(all.map(({ latency }) => latency[figure]))),
    ]),
  };
}
