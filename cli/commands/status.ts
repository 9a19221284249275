import { Command } from 'commander';
import { keptInAll, type KeptFor } from '@waybell/delivery-log/read/kept';
import { parkedInAll, type ParkedInAll } from '@waybell/delivery-log/read/parked';
import { describeKept } from '../kept/describe-kept.ts';
import { describeInAll } from '../parked/describe-parked.ts';
import { report } from '../report.ts';
import { withDatabase } from '../with-database.ts';
import { stackOf } from '@waybell/stack/stack-folder';
import { conditionOf, NotRunning } from '@waybell/stack/stack-state';
import { readStatus, type Status } from '@waybell/stack/stack-status';
import { deliveryQueue } from '@waybell/line/topology';
import { formatDuration } from '@waybell/runtime/duration';
import { whoTakes } from '@waybell/stack/who-takes';
import { print } from '../print.ts';

export function statusCommand(): Command {
  return new Command('status')
    .description('show each process, each server, the queues that hold something, what is parked, and what is kept')
    .option('--json', 'everything, as one JSON object')
    .addHelpText('after', "\nExample:\n  ./waybell status --json | jq '.queues[] | select(.messages > 0)'\n")
    .action(status);
}

async function status({ json }: { json?: true }): Promise<void> {
  const folder = stackOf(process.env);
  const condition = conditionOf(folder);
  if (condition.kind === 'stopped') throw new NotRunning(folder, condition);
  if (folder.home !== stackOf({}).home) report(`this is the stack in ${folder.home}, which WAYBELL_HOME names`);
  const [found, tables] = await Promise.all([readStatus(condition), readTables(condition.state.addresses)]);
  if (json) print(JSON.stringify({ home: folder.home, ...found, ...(tables ?? { parked: null, kept: null }) }));
  else print(...[table(found), ...describeTables(tables)].join('\n').split('\n'));
  if (condition.kind === 'running') return;
  report(new NotRunning(folder, condition).message);
  process.exitCode = 1;
}

type Tables = { parked: ParkedInAll; kept: KeptFor[] };

/** Undefined where there is no answer: how Postgres is stands elsewhere. */
async function readTables({ DATABASE_URL }: Record<string, string>): Promise<Tables | undefined> {
  if (DATABASE_URL === undefined) return undefined;
  return withDatabase({ ...process.env, DATABASE_URL }, async (postgres) => ({
    parked: await parkedInAll(postgres),
    kept: await keptInAll(postgres),
  })).catch(() => undefined);
}

function describeTables(tables: Tables | undefined): string[] {
  if (tables === undefined) return ['parked: the tables cannot be read'];
  return [`parked: ${describeInAll(tables.parked)}`, describeKept(tables.kept)].filter((line) => line !== '');
}

function table({ processes, queues, deliveries }: Status): string {
  const rows = processes.map(({ name, state, pid, restarts, address, waitsFor }) => [
    name,
    waitsFor === undefined ? state : `${state} (waits for ${shortened(waitsFor)})`,
    pid === null ? '' : `pid ${pid}`,
    restarts === 0 ? '' : `restarted ${restarts}×`,
    address,
  ]);
  const full = queues.filter(({ messages }) => messages > 0);
  const waiting = full.map(({ name, messages, consumers }) => [
    name,
    `${messages} messages${inDeliveries(name, messages, deliveries)}`,
    whoTakes(name, consumers),
  ]);
  const silent = queues.filter(({ messages, isKnown }) => messages === 0 && !isKnown);
  const empty = `${queues.length - full.length - silent.length} of ${queues.length} queues are empty`;
  const oldest = Math.ceil(deliveries.oldestAgeSeconds ?? 0) * 1_000;
  return [
    ...align(rows),
    '',
    ...align(waiting),
    queues.length === 0 ? 'the queues cannot be read' : empty,
    ...(silent.length > 0 ? [`without a leader, so that it is not known what they hold: ${namesOf(silent)}`] : []),
    ...(deliveries.isEgressSuspected ? [NO_WAY_OUT] : []),
    ...(oldest > 0 ? [`the oldest delivery in hand was routed ${formatDuration(oldest)} ago`] : []),
  ].join('\n');
}

const NO_WAY_OUT =
  'most receivers cannot be connected to from here: look at our own network (failures to connect count against no receiver meanwhile)';

/** Several deliveries of an action travel in one message. */
function inDeliveries(queue: string, messages: number, { perMessage }: Status['deliveries']): string {
  if (!queue.startsWith(deliveryQueue('')) || perMessage === null || perMessage < 1.05) return '';
  return ` (about ${Math.round(messages * perMessage)} deliveries)`;
}

const namesOf = (queues: Status['queues']): string => shortened(queues.map(({ name }) => name).join(', '));

/** A service that waits for the broker waits for each of its queues: a few name the trouble. */
function shortened(names: string): string {
  const [first, second, ...more] = names.split(', ');
  return more.length === 0 ? names : `${first}, ${second} and ${more.length} more`;
}

function align(rows: string[][]): string[] {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(width(column) + 2))
      .join('')
      .trimEnd(),
  );
}
