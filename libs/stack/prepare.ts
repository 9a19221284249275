import { lineTopology, readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { declareSettings, declareTopology } from '@waybell/line/operating/declare';
import { ownNotices, type Topology } from '@waybell/line/topology';
import { readEnvironment } from '@waybell/runtime/environment';
import { createLog, type Log } from '@waybell/runtime/log';
import type { ServerAddress } from '@waybell/runtime/server-address';

// The return value or the error suffices where the tables are only a part of the preparation.
const silent = () => createLog({ service: 'migrate', level: 'silent' });

/**
 * Creates or changes the tables, which may take long, as the log shows; resolves with the names of the migrations applied. Its
 * module is loaded only now: the ORM takes longer to load than most commands take to run.
 */
export async function prepareDatabase(address: ServerAddress, log: Log = silent()): Promise<string[]> {
  const { migrate } = await import('@waybell/subscription-api/migrate');
  return migrate({ ...address, log });
}

/** Declares exchanges, queues and bindings; existing ones stay. Resolves with the names of the queues. */
export async function prepareBroker(address: ServerAddress, env: NodeJS.ProcessEnv): Promise<string[]> {
  const topology = topologyOf(env);
  await declareTopology(address, topology);
  return topology.queues.map(({ name }) => name);
}

/** Declares the queue for notices of that RabbitMQ user's rejected events. Resolves with its name. */
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
