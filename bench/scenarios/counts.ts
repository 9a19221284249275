import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { actionKey, actions } from '@waybell/catalog/actions';
import { eventsExchange } from '@waybell/line/topology';
import { repository } from '@waybell/stack/stack-folder';
import { PATIENT } from '@waybell/tests/testing/patience';
import { unwritten } from '../comparators/without-log.ts';
import { countingSettings, countInside, type CountedService } from '../lib/count-inside.ts';
import { untilDrained } from '../lib/measure.ts';
import type { Table } from '../lib/report.ts';
import type { Effort, Scenario } from '../lib/scenario.ts';
import { countsPer, readCounts, REPORTED_AFTER_MS, type ServerCounts } from '../lib/server-counts.ts';
import { startStand, type Stand } from '../lib/stand.ts';
import { spread, type Spread } from '../lib/statistics.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };
const CARRIER = {
  from: EVERYBODY.to,
  to: EVERYBODY.to + 1,
  actionKeys: actions
    .filter((action) => action.interface === 'carrier')
    .map(actionKey)
    .slice(0, 1),
};
const COUNTED_SERVICES = ['event-router', 'deliverer', 'delivery-log', 'deactivator'];
const EVENTS = 20_000;
/** Until V8 has compiled what is hot, and knows which objects it need not make, a delivery allocates an eighth more. */
const WARM_EVENTS = 2 * EVENTS;
/** One by one: files that nearly each of them entered are those that an event enters, and not what a timer runs. */
const FILES = { perSecond: 20, forMs: 5_000, entered: 0.9 };
const POLL_MS = 20;
/** There to end what would never end, not to measure. */
const LIMIT_MS = 300_000;

type CountedStand = { stand: Stand; folder: string; services: CountedService[] };

export const counts: Scenario = {
  name: 'counts',
  description: 'what a delivery takes that a busy machine does not change: bytes, promises, commands, messages, files',
  async run({ rounds, announce }) {
    const folder = mkdtempSync(join(tmpdir(), 'waybell-counting-'));
    await using _folder = { [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }) };
    await using stand = await startStand({ ...PATIENT, ...countingSettings(folder) });
    const { stack, publisher, postgres } = stand;
    await stand.seed(EVERYBODY, '/ok');
    await stand.seed(CARRIER, '/ok');
    // No automatic checkpoint follows in the next minutes, and pages that Postgres has to write in full are written during the
    // warm-up.
    await postgres.query('checkpoint');
    await publisher.call('connect', { url: stack.servers.url('rabbitmq'), exchange: eventsExchange });
    const counted = { stand, folder, services: COUNTED_SERVICES.map((name) => stack.service(name)) };
    announce('warming up');
    await deliver(stand, WARM_EVENTS);
    const all = await countRounds(counted, { rounds, announce });
    announce('promises and files');
    const promises = await countPromises(counted);
    const files = await listFiles(counted);
    const figures: Record<string, Spread> = {
      ...spreads(all),
      ...spreads([promises]),
      'files entered': spread([files.length]),
    };
    return {
      workload: `${EVENTS} events as in F1, published at once; of each figure what one delivery takes. Files: those that an event of a carrier enters in these services, with one subscription, answered 200.`,
      settings: { rounds, EVENTS, WARM_EVENTS, FILES },
      rounds: { counts: all, promises: [promises], files: [files] },
      tables: [serviceTable(figures), wholeTable(figures)],
      checks: Object.entries(COUNT_BUDGETS).map(([what, atMost]) => {
        // Disturbances make batches smaller, and add to the counts.
        return { what, figure: figures[what]?.min ?? Number.NaN, bar: { atMost } };
      }),
    };
  },
};

/** Publishes so many events and waits until all are delivered and on record. */
async function deliver(stand: Stand, events: number): Promise<void> {
  const { publisher, receiver } = stand;
  const before = await receiver.call('requests');
  const came = async () => (await receiver.call('requests')) - before;
  await publisher.call('start', { workload: evenly(EVERYBODY), pace: { kind: 'all', events } });
  await publisher.call('finish');
  for (const deadline = performance.now() + LIMIT_MS; performance.now() < deadline; await sleep(POLL_MS)) {
    if ((await came()) >= events && (await unwritten(stand)) === 0) break;
  }
  // Would anything come twice, or be written late, it were counted too.
  await untilDrained(stand);
  if ((await came()) !== events)
    throw new Error(`${await came()} requests came of ${events} events, each with one delivery`);
}

/** Returns the counts of each of these rounds for a delivery. */
async function countRounds(
  counted: CountedStand,
  { rounds, announce }: Pick<Effort, 'rounds' | 'announce'>,
): Promise<ServerCounts[]> {
  const { stand, services } = counted;
  const read = async () => {
    await sleep(REPORTED_AFTER_MS);
    return readCounts(stand.stack, services, stand.postgres);
  };
  const all: ServerCounts[] = [];
  let before = await read();
  for (let round = 1; round <= rounds; round += 1) {
    announce(`round ${round} of ${rounds}`);
    const inside = await countInside(counted, ['allocatedBytes', 'statements'], () => deliver(stand, EVENTS));
    const after = await read();
    const figures = [...inside].flatMap(([name, { allocatedBytes, statements }]) => [
      [`${name}: bytes allocated`, allocatedBytes] as const,
      [`${name}: statements of 1,000`, statements * 1_000] as const,
    ]);
    all.push({ ...perDelivery(Object.fromEntries(figures)), ...countsPer(EVENTS, before, after) });
    before = after;
  }
  return all;
}

async function countPromises(counted: CountedStand): Promise<ServerCounts> {
  const inside = await countInside(counted, ['promises'], () => deliver(counted.stand, EVENTS));
  return perDelivery(Object.fromEntries([...inside].map(([name, { promises }]) => [`${name}: promises`, promises])));
}

/** Paths of the files that an event enters. */
async function listFiles(counted: CountedStand): Promise<string[]> {
  const { publisher, receiver } = counted.stand;
  await publisher.call('start', { workload: evenly(CARRIER), pace: { kind: 'rate', perSecond: FILES.perSecond } });
  let events = 0;
  const inside = await countInside(counted, ['calls'], async () => {
    const before = await receiver.call('requests');
    await sleep(FILES.forMs);
    events = (await receiver.call('requests')) - before;
  });
  await publisher.call('stop');
  const entered = [...inside.values()]
    .flatMap(({ calls }) => Object.entries(calls))
    .filter(([, most]) => most >= events * FILES.entered)
    .map(([url]) => url.replace(pathToFileURL(`${repository}/`).href, ''));
  return [...new Set(entered)].filter((path) => /^(libs|services)\/(?!.*node_modules\/)/.test(path)).toSorted();
}

function perDelivery(counted: ServerCounts): ServerCounts {
  return Object.fromEntries(Object.entries(counted).map(([name, value]) => [name, value / EVENTS]));
}

function spreads(rounds: readonly ServerCounts[]): Record<string, Spread> {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, spread(rounds.map((round) => round[name] ?? Number.NaN))]));
}

function serviceTable(figures: Readonly<Record<string, Spread>>): Table {
  const kinds = new Set(Object.keys(figures).flatMap((name) => name.split(': ')[1] ?? []));
  return {
    title: 'What each service takes for a delivery, median (least–most)',
    columns: ['', ...COUNTED_SERVICES],
    rows: [...kinds].map((kind) => [kind, ...COUNTED_SERVICES.map((name) => figures[`${name}: ${kind}`] ?? '–')]),
  };
}

function wholeTable(figures: Readonly<Record<string, Spread>>): Table {
  return {
    title: 'What a delivery takes of servers, and of files',
    columns: ['', 'taken'],
    rows: Object.entries(figures).filter(([name]) => !name.includes(': ')),
  };
}

/**
 * Budgets of one delivery, by the names of the figures of `counts`: a tenth more than was measured. Figures that a busy machine
 * changes by more have no budget: how often waiting services wake, and what timers do meanwhile.
 */
export const COUNT_BUDGETS: Readonly<Record<string, number>> = {
  'event-router: bytes allocated': 19_700,
  'deliverer: bytes allocated': 28_300,
  'delivery-log: bytes allocated': 7_600,
  'event-router: promises': 0.6,
  'deliverer: promises': 3.7,
  'event-router: bytes to the broker': 503,
  'event-router: bytes from the broker': 517,
  'deliverer: bytes to the broker': 110,
  'deliverer: bytes from the broker': 422,
  'delivery-log: bytes from the broker': 189,
  'deliverer: reads and writes': 2.3,
  'messages published': 1.47,
  'messages taken': 1.47,
  'Redis commands': 2.25,
  'rows written': 3.45,
  'WAL bytes': 1_300,
  'files entered': 70,
};
