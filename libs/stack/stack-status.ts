import { brokerOf } from './address-of.ts';
import type { NamedState } from '@waybell/line/broker/depth';
import { queueDepths } from './queue-depths.ts';
import { isAlive } from './process-identity.ts';
import { reachesAny } from './reaches.ts';
import { deliveriesPerMessage, readFigures } from './read-figures.ts';
import { waitsFor } from './service-process.ts';
import type { Condition, ProcessEntry } from './stack-state.ts';

export type ProcessStatus = {
  name: string;
  role: 'server' | 'service';
  /** Null for a server that others run. */
  pid: number | null;
  /** `waiting`: it runs, and says that it is not ready. */
  state: 'starting' | 'ready' | 'waiting' | 'restarting' | 'stopping' | 'stopped' | 'unreachable';
  restarts: number;
  address: string;
  waitsFor?: string;
};

export type Status = {
  supervisor: { pid: number; state: 'starting' | 'ready' | 'stopping' | 'killed' };
  processes: ProcessStatus[];
  queues: NamedState[];
  deliveries: {
    /** In one message of a delivery queue, on the mean; null where the router has not said. */
    perMessage: number | null;
    /** Since the oldest that a deliverer has in hand was routed; null where none has said. */
    oldestAgeSeconds: number | null;
    /** Whether a deliverer cannot connect to most receivers; null where none has said. */
    isEgressSuspected: boolean | null;
  };
};

/** Asks every process and the broker how they are now. */
export async function readStatus(condition: Exclude<Condition, { kind: 'stopped' }>): Promise<Status> {
  const { supervisor, phase, processes, queues, addresses } = condition.state;
  const broker = addresses['AMQP_URL'];
  const [found, deliveries, depths] = await Promise.all([
    Promise.all(processes.map(statusOf)),
    readDeliveries(processes),
    broker === undefined ? [] : queueDepths(brokerOf({ ...process.env, AMQP_URL: broker }), queues),
  ]);
  return {
    supervisor: { pid: supervisor.pid, state: condition.kind === 'running' ? phase : 'killed' },
    processes: depths === undefined ? found.map(orUnreachable) : found,
    queues: depths ?? [],
    deliveries,
  };
}

async function readDeliveries(processes: readonly ProcessEntry[]): Promise<Status['deliveries']> {
  const figuresOf = async (service: string) => {
    const health = processes.find(({ name }) => name === service)?.health;
    return health === undefined ? undefined : readFigures(health);
  };
  const [router, deliverer] = await Promise.all([figuresOf('event-router'), figuresOf('deliverer')]);
  const suspected = deliverer?.largestOf('waybell_egress_suspected');
  return {
    perMessage: deliveriesPerMessage(router) ?? null,
    oldestAgeSeconds: deliverer?.largestOf('waybell_oldest_delivery_age_seconds') ?? null,
    isEgressSuspected: suspected === undefined ? null : suspected > 0,
  };
}

async function statusOf(entry: ProcessEntry): Promise<ProcessStatus> {
  const { name, role, restarts = 0, identity } = entry;
  const address = withoutSecrets(entry.address);
  const common = { name, role, address, restarts, pid: isAlive(identity) ? (identity?.pid ?? null) : null };
  if (entry.state === 'external') {
    return { ...common, state: (await reachesAny(address)) ? 'ready' : 'unreachable' };
  }
  if (common.pid === null) return { ...common, state: entry.state === 'restarting' ? 'restarting' : 'stopped' };
  if (entry.state !== 'ready' || entry.health === undefined) return { ...common, state: entry.state };
  const missing = await waitsFor(entry.health);
  return missing === undefined ? { ...common, state: 'ready' } : { ...common, state: 'waiting', waitsFor: missing };
}

/** A broker that runs and does not answer. */
function orUnreachable(status: ProcessStatus): ProcessStatus {
  return status.name === 'rabbitmq' && status.state === 'ready' ? { ...status, state: 'unreachable' } : status;
}

/** A status is read aloud and pasted into reports: the passwords are for `./waybell env`. */
function withoutSecrets(address: string): string {
  return address.replace(/\/\/[^@/]*@/g, '//');
}
