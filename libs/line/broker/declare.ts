import type { ChannelModel } from 'amqplib';
import { bytes, count } from '@waybell/runtime/environment';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Exchange, Queue, Topology } from '../topology.ts';
import { onConnection, openChannel } from './connect-once.ts';

/** Whoever declares may do so while the broker starts. */
const CONNECT_LIMIT_MS = 60_000;

export const declareSettings = {
  EVENTS_QUEUE_LIMIT: bytes({
    default: 2 ** 30,
    desc: 'size at which a queue of events refuses what upstream publishes',
  }),
  QUORUM_SIZE: count({
    default: 3,
    desc: 'members of each quorum queue at declaration; at most the nodes of the cluster',
  }),
};

/** The broker has an exchange or a queue of that name with other arguments. */
export class TopologyMismatch extends Error {
  constructor(what: string, reason: string) {
    super(
      `${what} exists with other arguments: ${reason}. ` +
        'Change the setting back, or drain and delete it, then run `./waybell declare` again.',
    );
    this.name = 'TopologyMismatch';
  }
}

/**
 * Creates what is missing and checks what is there. Needs the right to configure, which the services do not have.
 * Throws `TopologyMismatch`, naming the queue and the argument, where something is there in another shape.
 */
export async function declareTopology(address: ServerAddress, { exchanges, queues }: Topology): Promise<void> {
  const declare = async (connection: ChannelModel) => {
    for (const exchange of exchanges) await declareExchange(connection, exchange);
    await Promise.all(inGroups(queues, 8).map((group) => declareQueues(connection, group)));
  };
  await onConnection(address, declare, CONNECT_LIMIT_MS);
}

function inGroups<T>(all: T[], groups: number): T[][] {
  return Array.from({ length: groups }, (_, index) => all.filter((_each, place) => place % groups === index));
}

async function declareExchange(connection: ChannelModel, { name, type, alternate }: Exchange): Promise<void> {
  const channel = await openChannel(connection);
  try {
    await channel.assertExchange(name, type, {
      durable: true,
      ...(alternate !== undefined && { alternateExchange: alternate }),
    });
  } catch (error) {
    throw mismatch(`Exchange "${name}"`, error);
  }
  await channel.close();
}

async function declareQueues(connection: ChannelModel, queues: Queue[]): Promise<void> {
  const channel = await openChannel(connection);
  for (const queue of queues) {
    try {
      await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments });
    } catch (error) {
      throw mismatch(`Queue "${queue.name}"`, error);
    }
    for (const { exchange, routingKey } of queue.bindings) await channel.bindQueue(queue.name, exchange, routingKey);
  }
  await channel.close();
}

const PRECONDITION_FAILED = 406;

function mismatch(what: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== PRECONDITION_FAILED) return error;
  return new TopologyMismatch(what, /inequivalent arg .*/.exec(error.message)?.[0] ?? error.message);
}
