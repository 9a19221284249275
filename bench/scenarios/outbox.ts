import { setTimeout as sleep } from 'node:timers/promises';
import { cpuBetween, cpuOf, type CpuMicros } from '../lib/processes.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { startOutboxStand, type OutboxStand } from '../lib/outbox-stand.ts';
import type { Scenario } from '../lib/scenario.ts';
import { spread, summarise, type Summary } from '../lib/statistics.ts';

const PACED_PER_SECOND = 500;
const CALLERS = 16;
const DRAIN_LOOK_MS = 10;

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
  async run({ isQuick, rounds, tell }) {
    const [warmMs, measureMs] = isQuick ? [2_000, 4_000] : [4_000, 15_000];
    await using stand = await startOutboxStand();
    const runs = await inTurn({ contenders: TURNS, rounds, tell }, async (turn) => {
      await stand.notify(turn.notifies);
      await takeFull(stand, turn, warmMs);
      return { ...(await takeFull(stand, turn, measureMs)), latency: await takePaced(stand, measureMs) };
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

async function takeFull(
  stand: OutboxStand,
  { eventsEach }: OutboxTurn,
  forMs: number,
): Promise<Omit<OutboxResult, 'latency'>> {
  const published = () => stand.relay.call('published');
  const before = { cpu: cpuOf(stand.parts), published: await published(), at: performance.now() };
  const committed = await stand.caller.call('full', { callers: CALLERS, eventsEach, forMs });
  const committedMs = performance.now() - before.at;
  while ((await published()) < before.published + committed) await sleep(DRAIN_LOOK_MS);
  const ms = performance.now() - before.at;
  const cpu = cpuBetween(before.cpu, cpuOf(stand.parts));
  return {
    committedPerSecond: (committed / committedMs) * 1_000,
    perSecond: (committed / ms) * 1_000,
    cpu: Object.fromEntries(Object.entries(cpu).map(([part, micros]) => [part, micros / committed])),
  };
}

async function takePaced(stand: OutboxStand, forMs: number): Promise<Summary> {
  const { arrivals, close } = await stand.listen();
  const committed = await stand.caller.call('paced', { perSecond: PACED_PER_SECOND, forMs });
  while (arrivals.size < committed.length) await sleep(DRAIN_LOOK_MS);
  await close();
  return summarise(committed.map(([guid, at]) => (arrivals.get(guid) ?? Number.NaN) - at));
}

const TITLE = 'Events a second, and CPU of each, µs';

function speedTable(runs: OutboxResults) {
  return {
    title: TITLE,
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
