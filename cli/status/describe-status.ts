import { mayHoldMore, describeConsumers } from '@waybell/line/operating/describe-consumers';
import { deliveryQueue } from '@waybell/line/topology';
import { formatDuration } from '@waybell/runtime/duration';
import { counted } from '../in-words.ts';
import { describeInAll } from '../waiting/describe-waiting.ts';
import type { Status } from './read-status.ts';

/** The status as lines for a terminal. */
export function describeStatus(status: Status): string[] {
  const { queues, missing, policies, waiting, held, release, troubles } = status;
  return [
    ...describeProcesses(status),
    '',
    ...(queues === null ? [] : describeQueues(queues, status.deliveries)),
    ...(missing.length === 0 ? [] : [`not there (./waybell declare makes them): ${shortened(missing)}`]),
    ...(policies ?? []),
    ...describeDeliveries(status.deliveries),
    ...(waiting === null ? [] : describeInAll(waiting)),
    ...(held ? [`held: ${counted(held, 'subscription')} ${HELD}`] : []),
    ...(release === null ? [] : [`the tables are those of release ${release}`]),
    ...troubles,
  ];
}

function describeProcesses({ supervisor, processes }: Status): string[] {
  const rows = processes.map(({ name, state, pid, restarts, address, waitsFor }) => [
    name,
    waitsFor === undefined ? state : `${state} (waits for ${shortened(waitsFor.split(', '))})`,
    pid === null ? '' : `pid ${pid}`,
    restarts === 0 ? '' : `restarted ${restarts}×`,
    address,
  ]);
  const areUnknown = supervisor === null && processes.every(({ role }) => role === 'server');
  return [...align(rows), ...(areUnknown ? ['METRICS_URLS names no services to ask whether they are ready'] : [])];
}

function describeQueues(queues: NonNullable<Status['queues']>, deliveries: Status['deliveries']): string[] {
  const full = queues.filter(({ messages }) => messages > 0);
  const rows = full.map(({ name, messages, consumers }) => [
    name,
    `${counted(messages, 'message')}${inDeliveries(name, messages, deliveries)}`,
    describeConsumers(name, consumers),
  ]);
  const unsure = queues.filter(mayHoldMore).map(({ name }) => name);
  return [
    ...align(rows),
    `${queues.length - full.length - unsure.length} of ${queues.length} queues are empty`,
    ...(unsure.length > 0 ? [`without a service that takes from them, or without a leader: ${shortened(unsure)}`] : []),
  ];
}

function describeDeliveries({ isEgressSuspected, oldestAgeSeconds }: Status['deliveries']): string[] {
  const oldest = Math.ceil(oldestAgeSeconds ?? 0) * 1_000;
  return [
    ...(isEgressSuspected === true ? [NO_WAY_OUT] : []),
    ...(oldest > 0 ? [`the oldest delivery in hand was routed ${formatDuration(oldest)} ago`] : []),
  ];
}

const NO_WAY_OUT =
  'most receivers cannot be connected to from here: look at our own network (failures to connect count against no receiver meanwhile)';

const HELD =
  'that would be switched off: so many fail at once that the fault may be ours (./waybell deactivations list, release, discard)';

/** Several deliveries of an action travel in one message. */
function inDeliveries(queue: string, messages: number, { perMessage }: Status['deliveries']): string {
  if (!queue.startsWith(deliveryQueue('')) || perMessage === null || perMessage < 1.05) return '';
  return ` (about ${Math.round(messages * perMessage)} deliveries)`;
}

/** A service that waits for the broker waits for each of its queues: a few name the trouble. */
function shortened(names: readonly string[]): string {
  const [first, second, ...more] = names;
  return more.length === 0 ? names.join(', ') : `${first}, ${second} and ${more.length} more`;
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
