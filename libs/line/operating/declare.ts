import type { Channel, ChannelModel } from 'amqplib';
import { bytes, constant, count } from '@waybell/runtime/environment';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { close, openChannel } from '../broker/broker-connection.ts';
import type { Exchange, Queue, Topology } from '../topology.ts';
import { onConnection } from './connect-once.ts';

/** Allows for a broker that is just starting. */
const CONNECT_LIMIT_MS = 60_000;

export const declareSettings = {
  EVENTS_QUEUE_LIMIT: bytes({
    per: 'queue',
    default: 2 ** 30,
    desc: 'size at which a queue of events refuses what upstream publishes',
  }),
  QUORUM_SIZE: constant(
    count({
      per: 'queue',
      default: 3,
      desc: 'members of each quorum queue at declaration; at most the nodes of the cluster',
    }),
  ),
};

/** Exchanges or queues exist with other arguments. Everything else was declared. */
export class TopologyMismatch extends Error {
  constructor(different: readonly string[]) {
    super(
      `${different.join('; ')}. ` +
        'Change the setting back, or drain and delete what differs, then run `./waybell declare` again.',
    );
    this.name = 'TopologyMismatch';
  }
}

/**
 * Creates missing exchanges and queues and checks existing ones. Needs the right to configure, which services lack. Throws
 * `TopologyMismatch`, which names each queue and argument that differs.
 */
export async function declareTopology(address: ServerAddress, { exchanges, queues }: Topology): Promise<void> {
  const declare = async (connection: ChannelModel) => [
    // Exchanges first: bindings need them.
    ...(await declareEach(connection, exchanges, declareExchange)),
    ...(await Promise.all(inGroups(queues, 8).map((group) => declareEach(connection, group, declareQueue)))).flat(),
  ];
  const different = await onConnection(address, declare, CONNECT_LIMIT_MS);
  if (different.length > 0) throw new TopologyMismatch(different);
}

function inGroups<T>(all: T[], groups: number): T[][] {
  return Array.from({ length: groups }, (_, index) => all.filter((_each, place) => place % groups === index));
}

type Declare<T> = (channel: Channel, what: T) => Promise<void>;

/** Declares one after the other and returns a description of each that differs. Such an answer closes the channel. */
async function declareEach<T extends Resource>(
  connection: ChannelModel,
  all: readonly T[],
  declare: Declare<T>,
): Promise<string[]> {
  const different: string[] = [];
  const left = [...all];
  let channel = await openChannel(connection);
  for (const each of left) {
    try {
      await declare(channel, each);
    } catch (error) {
      const members = membersOf(error);
      if (members === undefined) different.push(differenceOf(each, error));
      else left.push({ ...each, arguments: { ...('arguments' in each && each.arguments), [MEMBERS]: members } });
      channel = await openChannel(connection);
    }
  }
  await close(channel);
  return different;
}

const MEMBERS = 'x-quorum-initial-group-size';
const OTHER_MEMBERS = new RegExp(`inequivalent arg '${MEMBERS}'.* current is .*?'(\\d+)'`);

/** The number of members with which a queue was declared, if that is the difference: it is none, as `rabbitmq-queues grow` adds members. */
function membersOf(error: unknown): number | undefined {
  const [, members] = OTHER_MEMBERS.exec(error instanceof Error ? error.message : '') ?? [];
  return members === undefined ? undefined : Number(members);
}

async function declareExchange(channel: Channel, { name, type, alternate, bindings = [] }: Exchange): Promise<void> {
  await channel.assertExchange(name, type, {
    durable: true,
    ...(alternate !== undefined && { alternateExchange: alternate }),
  });
  for (const { exchange, routingKey } of bindings) await channel.bindExchange(name, exchange, routingKey);
}

async function declareQueue(channel: Channel, queue: Queue): Promise<void> {
  await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments });
  for (const { exchange, routingKey } of queue.bindings) await channel.bindQueue(queue.name, exchange, routingKey);
}

type Resource = Exchange | Queue;

const PRECONDITION_FAILED = 406;

/** Describes the difference; rethrows any other error. */
function differenceOf(what: Resource, error: unknown): string {
  if (!(error instanceof Error) || !('code' in error) || error.code !== PRECONDITION_FAILED) throw error;
  if (error.message.includes('limit in vhost'))
    throw new Error(`${error.message}: raise the limit, or clear it (rabbitmqctl clear_vhost_limits)`, {
      cause: error,
    });
  const kind = 'arguments' in what ? 'Queue' : 'Exchange';
  return `${kind} "${what.name}" exists with other arguments: ${/inequivalent arg .*/.exec(error.message)?.[0] ?? error.message}`;
}
