import type { NamedState } from '@waybell/line/broker/broker-connection';
import { placeOf } from '@waybell/runtime/addresses';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { messageOf } from '@waybell/runtime/server-trouble';
import { reachesAny } from '@waybell/stack/ports';
import { isAlive } from '@waybell/stack/process-identity';
import { readDepths } from '@waybell/stack/queue-depths';
import { deliveriesPerMessage, readFigures, waitsFor } from '@waybell/stack/service-process';
import type { ProcessEntry } from '@waybell/stack/stack-state';
import { countHeldBack } from '@waybell/subscription-api/interrupted';
import { lastRelease } from '@waybell/subscription-api/last-release';
import { waitingInAll, type WaitingInAll } from '@waybell/subscription-api/waiting-rooms';
import { onDatabase } from '../with-database.ts';
import type { StatusSource } from './status-source.ts';

export type ProcessStatus = {
  name: string;
  role: 'server' | 'service';
  /** Null for servers that others run. */
  pid: number | null;
  /** `waiting`: it runs, and says that it is not ready, or says nothing. */
  state: 'starting' | 'ready' | 'waiting' | 'restarting' | 'stopping' | 'stopped' | 'unreachable';
  restarts: number;
  address: string;
  waitsFor?: string;
};

/** The current status. Null members could not be read: `troubles` says why. */
export type Status = Pick<StatusSource, 'home' | 'supervisor'> & {
  processes: ProcessStatus[];
  queues: NamedState[] | null;
  /** Queues that should be there and are not. */
  missing: string[];
  deliveries: {
    /** In one message of a delivery queue, on the mean; null where the router has not said. */
    perMessage: number | null;
    /** Since the oldest that a deliverer has in hand was routed; null where none has said. */
    oldestAgeSeconds: number | null;
    /** Whether a deliverer cannot connect to most receivers; null where none has said. */
    isEgressSuspected: boolean | null;
  };
  /** Policies of RabbitMQ that harm the line, and their remedy; null if they cannot be read. */
  policies: string[] | null;
  waiting: Record<'endpoints' | 'destinations', WaitingInAll> | null;
  /** Subscriptions that a rule would switch off, held because so many are due at once. */
  held: number | null;
  /** The release that migrated the tables last; null also where none has noted itself. */
  release: string | null;
  troubles: string[];
};

const BROKER_LIMIT_MS = 10_000;

/** Asks every process, the broker and the database how they are now. */
export async function readStatus(source: StatusSource): Promise<Status> {
  const [processes, deliveries, queues, policies, tables] = await Promise.all([
    Promise.all(source.processes.map(statusOf)),
    readDeliveries(source.processes),
    attempt('the queues cannot be read', async () => readDepths(source.broker(), source.queues, BROKER_LIMIT_MS)),
    attempt('policies cannot be read', source.policies),
    attempt('what waits cannot be read', async () => readTables(source.database())),
  ]);
  const found = new Set(queues.read?.map(({ name }) => name) ?? source.queues);
  return {
    home: source.home,
    supervisor: source.supervisor,
    processes: queues.read === null ? processes.map(orUnreachable) : processes,
    queues: queues.read,
    missing: source.queues.filter((name) => !found.has(name)),
    deliveries,
    ...(tables.read ?? { waiting: null, held: null, release: null }),
    policies: policies.read?.map(({ text }) => text) ?? null,
    // Without a broker, its queues have said so.
    troubles: [
      ...source.troubles,
      ...queues.troubles,
      ...(queues.read === null ? [] : policies.troubles),
      ...tables.troubles,
    ],
  };
}

type ReadAttempt<T> = { read: T | null; troubles: string[] };

async function attempt<T>(failure: string, read: () => Promise<T | undefined>): Promise<ReadAttempt<T>> {
  try {
    return { read: (await read()) ?? null, troubles: [] };
  } catch (error) {
    return { read: null, troubles: [`${failure}: ${messageOf(error)}`] };
  }
}

async function readTables(database: ServerAddress): Promise<Pick<Status, 'waiting' | 'held' | 'release'>> {
  return onDatabase(database, async (postgres) => ({
    waiting: await waitingInAll(postgres),
    held: await countHeldBack(postgres),
    release: (await lastRelease(async (sql) => (await postgres.query(sql)).rows)) ?? null,
  }));
}

async function readDeliveries(processes: readonly ProcessEntry[]): Promise<Status['deliveries']> {
  const figuresOf = async (service: string) =>
    readFigures(...processes.filter(({ name }) => name === service).flatMap(({ health }) => health ?? []));
  const [router, deliverer] = await Promise.all([figuresOf('event-router'), figuresOf('deliverer')]);
  const suspected = deliverer?.largestOf('waybell_egress_suspected');
  return {
    perMessage: deliveriesPerMessage(router) ?? null,
    oldestAgeSeconds: deliverer?.largestOf('waybell_oldest_delivery_age_seconds') ?? null,
    isEgressSuspected: suspected === undefined ? null : suspected > 0,
  };
}

async function statusOf(entry: ProcessEntry): Promise<ProcessStatus> {
  const { name, role, restarts = 0, identity, address } = entry;
  const pid = isAlive(identity) ? (identity?.pid ?? null) : null;
  return { name, role, pid, restarts, address: withoutSecrets(address), ...(await stateOf(entry)) };
}

async function stateOf(entry: ProcessEntry): Promise<Pick<ProcessStatus, 'state' | 'waitsFor'>> {
  const { state, identity, health, address } = entry;
  if (state !== 'external' && !isAlive(identity)) return { state: state === 'restarting' ? 'restarting' : 'stopped' };
  if (state !== 'external' && state !== 'ready') return { state };
  if (health === undefined)
    return { state: state === 'ready' || (await reachesAny(address)) ? 'ready' : 'unreachable' };
  const missing = await waitsFor(health);
  return missing === undefined ? { state: 'ready' } : { state: 'waiting', waitsFor: missing };
}

/** A broker that runs and does not answer. */
function orUnreachable(status: ProcessStatus): ProcessStatus {
  return status.name === 'rabbitmq' && status.state === 'ready' ? { ...status, state: 'unreachable' } : status;
}

/** A status is read aloud and pasted into reports: the passwords are for `./waybell env`. */
function withoutSecrets(address: string): string {
  // Some have no scheme, and no user either.
  if (!address.includes('//')) return address;
  return `${address.slice(0, address.indexOf('//'))}//${placeOf(address)}`;
}
