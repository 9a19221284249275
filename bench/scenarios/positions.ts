import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { eventsExchange } from '@waybell/line/topology';
import { services } from '@waybell/stack/services';
import { startStack, type Stack } from '@waybell/stack/stack';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { timeBetween } from '../lib/measure.ts';
import { startPart } from '../lib/part.ts';
import { cpuBetween, cpuOf } from '../lib/processes.ts';
import type { Scenario } from '../lib/scenario.ts';
import { spread } from '../lib/statistics.ts';
import type { BareTrackerCommands } from '../parts/bare-tracker.ts';
import type { ReporterCommands, Reports } from '../parts/reporter.ts';
import type { StateKeeperCommands } from '../parts/state-keeper.ts';

const BARE_QUEUE = 'bench.reports';
const HANDLED = { name: 'waybell_messages_total', label: 'result="handled"' };
const FLEET = { vehicles: 20_000, shippers: 500 };
const MOVED_ONE_IN = 50;
const LIMIT_MS = 120_000;

type PositionResult = { perSecond: number; cpuMicros: number };

export const positions: Scenario = {
  name: 'positions',
  description: 'location reports a second that one tracker reads, beside bare writes to Redis',
  async run({ isQuick, rounds, announce }) {
    const count = isQuick ? 30_000 : 100_000;
    await using stand = await startTrackerStand();
    const reporter = startPart<ReporterCommands>('parts/reporter.ts');
    const amqpUrl = stand.stack.servers.url('rabbitmq');
    await declareBareQueue(amqpUrl);
    const report = (wanted: Partial<Reports> & Pick<Reports, 'exchange' | 'routingKey' | 'count'>) =>
      reporter.call('report', { amqpUrl, ...FLEET, movedOneIn: MOVED_ONE_IN, ...wanted });
    const toTracker = { exchange: eventsExchange, routingKey: 'shipper.vehicle.location_reported' };
    announce('every vehicle reports once: it is switched on, and its first position told');
    await report({ ...toTracker, count: FLEET.vehicles, movedOneIn: 0 });
    await timeBetween(() => stand.figure(HANDLED), { from: 0, least: FLEET.vehicles, limitMs: LIMIT_MS });
    await stand.tracker.stop();
    const contenders = [
      { name: 'waybell', fill: () => report({ ...toTracker, count }), run: () => runTracker(stand, count) },
      {
        name: 'bare writes',
        fill: () => report({ exchange: '', routingKey: BARE_QUEUE, count }),
        run: () => runBare(stand, count),
      },
    ];
    const runs = await inTurn({ contenders, rounds, announce }, async ({ fill, run }) => {
      await fill();
      return run();
    });
    const alone = await stateAlone(stand, { count, rounds, announce });
    await reporter.stop();
    const perSecond = (name: string) => spread((runs.get(name) ?? []).map((each) => each.perSecond));
    const cpu = (name: string) => spread((runs.get(name) ?? []).map((each) => each.cpuMicros));
    return {
      workload: `${count} reports of one vehicle each wait in a quorum queue and are read by one process; ${FLEET.vehicles} vehicles, one report in ${MOVED_ONE_IN} has moved far enough to be told. "Bare writes": the same reports from the same kind of queue, one pipelined Redis write of the same size each, acknowledged after it; what lies between is the contract, the record and the line of the log of each. Then the state of so many vehicles without a queue: as the tracker keeps it, and written only.`,
      settings: { rounds, count, ...FLEET, movedOneIn: MOVED_ONE_IN },
      rounds: { ...Object.fromEntries(runs), ...Object.fromEntries(alone) },
      tables: [
        {
          title: 'One process reading',
          columns: ['', 'reports/s', 'CPU per report, µs'],
          rows: [
            ['waybell', perSecond('waybell'), cpu('waybell')],
            ['bare writes', perSecond('bare writes'), cpu('bare writes')],
          ],
        },
        {
          title: 'The state alone, without a queue',
          columns: ['', 'vehicles/s'],
          rows: [...alone].map(([name, all]) => [name, spread(all.map((each) => each.perSecond))]),
        },
      ],
      checks: [
        { what: 'reports a second', figure: perSecond('waybell'), bar: { atLeast: 5_000 } },
        {
          what: 'state of vehicles a second, times bare pipelined Redis writes of the same size',
          figure: ratios(alone, 'state of the tracker', 'Redis writes', (each) => each.perSecond),
          bar: { atLeast: 0.5 },
        },
      ],
    };
  },
};

/** Servers and the tracker of positions, alone: no service takes what it publishes. */
type TrackerStand = AsyncDisposable & {
  stack: Stack;
  tracker: SupervisedProcess;
  /** A figure that the tracker shows under that name with that label; 0 where it does not show it yet. */
  figure(series: { name: string; label: string }): Promise<number>;
};

async function startTrackerStand(): Promise<TrackerStand> {
  const home = await mkdtemp(join(tmpdir(), 'waybell-bench-'));
  const { PATH = '', HOME = '' } = process.env;
  const tracker = services.filter(({ name }) => name === 'location-tracker');
  const stack = await startStack({ home, env: { PATH, HOME }, services: tracker });
  const service = stack.service('location-tracker');
  return {
    stack,
    tracker: service,
    async figure({ name, label }) {
      const metrics = await (await fetch(`${service.spec.health}/metrics`)).text();
      const line = metrics.split('\n').find((each) => each.startsWith(`${name}{`) && each.includes(label));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
    async [Symbol.asyncDispose]() {
      await stack.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function declareBareQueue(amqpUrl: string): Promise<void> {
  const connection = await connect(amqpUrl);
  const channel = await connection.createChannel();
  await channel.assertQueue(BARE_QUEUE, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await connection.close();
}

async function runTracker(stand: TrackerStand, count: number): Promise<PositionResult> {
  await stand.tracker.start();
  const pid = stand.tracker.identity?.pid ?? 0;
  const result = await drained(() => stand.figure(HANDLED), { pid, count });
  await stand.tracker.stop();
  return result;
}

async function runBare({ stack: { servers } }: TrackerStand, count: number): Promise<PositionResult> {
  const bare = startPart<BareTrackerCommands>('parts/bare-tracker.ts');
  await bare.call('track', { amqpUrl: servers.url('rabbitmq'), redisUrl: servers.url('redis'), queue: BARE_QUEUE });
  const result = await drained(() => bare.call('handled'), { pid: bare.pid, count });
  await bare.stop();
  return result;
}

/** How fast it goes once a tenth is read: its start does not count. */
async function drained(
  handled: () => Promise<number>,
  { pid, count }: { pid: number; count: number },
): Promise<PositionResult> {
  const from = count / 10;
  await timeBetween(handled, { from: 0, least: from, limitMs: LIMIT_MS });
  const before = cpuOf({ reader: [pid] });
  const ms = await timeBetween(handled, { from, least: count, limitMs: LIMIT_MS });
  const { reader = 0 } = cpuBetween(before, cpuOf({ reader: [pid] }));
  return { perSecond: ((count - from) / ms) * 1_000, cpuMicros: reader / (count - from) };
}

type Alone = { perSecond: number };

/** Measures the state of a vehicle without a queue: reading, deciding, comparing and setting, beside setting alone. */
async function stateAlone(
  { stack: { servers } }: TrackerStand,
  { count, ...turns }: { count: number; rounds: number; announce: (line: string) => void },
): Promise<Map<string, Alone[]>> {
  const work = {
    databaseUrl: servers.url('postgres'),
    redisUrl: servers.url('redis'),
    count,
    vehicles: FLEET.vehicles,
  };
  const contenders = [
    { name: 'state of the tracker', command: 'see' },
    { name: 'Redis writes', command: 'write' },
  ] as const;
  return inTurn({ contenders, ...turns }, async ({ command }) => {
    const keeper = startPart<StateKeeperCommands>('parts/state-keeper.ts');
    const perSecond = await keeper.call(command, work);
    await keeper.stop();
    return { perSecond };
  });
}
