import { declareSettings, declareTopology } from '@waybell/line/broker/declare';
import { lineTopology } from '@waybell/line/line-topology';
import { readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { ownNotices, type Topology } from '@waybell/line/topology';
import { readEnvironment } from '@waybell/runtime/environment';
import { createLog } from '@waybell/runtime/log';
import type { ServerAddress } from '@waybell/runtime/server-address';

/**
 * Creates or changes the tables; resolves with the names of the migrations applied. Its module is loaded only now: the
 * ORM takes longer to load than most commands take to run.
 */
export async function prepareDatabase(address: ServerAddress): Promise<string[]> {
  const { migrate } = await import('@waybell/subscription-api/migrate');
  // It tells by what it returns or throws; its log lines would stand among the command's answers.
  return migrate({ ...address, log: createLog({ service: 'migrate', level: 'silent' }) });
}

/** Declares exchanges, queues and bindings; what is there already stays. Resolves with the names of the queues. */
export async function prepareBroker(address: ServerAddress, env: NodeJS.ProcessEnv): Promise<string[]> {
  const topology = topologyOf(env);
  await declareTopology(address, topology);
  return topology.queues.map(({ name }) => name);
}

/**
 * Declares the queue in which that user of RabbitMQ, and no other, is told of its events that were rejected. Resolves with
 * its name.
 */
export async function prepareNotices(user: string, address: ServerAddress, env: NodeJS.ProcessEnv): Promise<string> {
  const { QUORUM_SIZE } = readEnvironment({ QUORUM_SIZE: declareSettings.QUORUM_SIZE }, env);
  const queue = ownNotices(user, QUORUM_SIZE);
  await declareTopology(address, { exchanges: [], queues: [queue] });
  return queue.name;
}

/** The line's topology under these settings. Throws InvalidEnvironment. */
export function topologyOf(env: NodeJS.ProcessEnv): Topology {
  const settings = readEnvironment({ ...declareSettings, ...scheduleSettings }, env);
  return lineTopology({
    schedule: readSchedule(settings),
    eventsLimitBytes: settings.EVENTS_QUEUE_LIMIT,
    quorumSize: settings.QUORUM_SIZE,
  });
}
