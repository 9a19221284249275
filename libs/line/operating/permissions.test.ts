import { describe, expect, test } from '@jest/globals';
import { asUser } from '@waybell/runtime/local-passwords';
import { shared } from '@waybell/runtime/testing/shared';
import { connect, type ChannelModel, type ConfirmChannel } from 'amqplib';
import { declareTopology } from './declare.ts';
import { type BrokerUser, brokerUser, permissions } from '../line-topology.ts';
import { smallTopology, TestBroker } from '../testing/test-broker.ts';

const ASIDE = ['waybell.rejected', 'waybell.suspected'];
const lanes = (step: string) => [`waybell.suspected.${step}`];
const exchanges = smallTopology.exchanges.map(({ name }) => name);
const queues = smallTopology.queues.map(({ name }) => name);

/** Everything that each user may publish to and consume; everything else is forbidden. */
const MAY: Record<BrokerUser, { publish: string[]; take: string[] }> = {
  'event-router': {
    publish: ['waybell.deliveries', 'waybell.outcomes', 'waybell.notices', ...ASIDE],
    take: ['waybell.events.router', 'waybell.strays', ...lanes('event-router'), ...lanes('strays')],
  },
  deliverer: {
    publish: [
      'waybell.deliveries',
      'waybell.returns',
      'waybell.retry',
      'waybell.waiting',
      'waybell.outcomes',
      'waybell.ends',
      ...ASIDE,
    ],
    take: ['waybell.deliveries.carrier.order.created', ...lanes('deliverer')],
  },
  deactivator: {
    publish: ['waybell.outcomes', 'waybell.notices', ...ASIDE],
    take: ['waybell.ends.deactivator', ...lanes('deactivator'), ...lanes('deactivations'), ...lanes('notices')],
  },
  'location-tracker': {
    publish: ['waybell.events', 'waybell.outcomes', 'waybell.notices', ...ASIDE],
    take: ['waybell.events.locations', ...lanes('location-tracker'), ...lanes('silent-vehicles')],
  },
  'delivery-log': {
    publish: ['waybell.deliveries', 'waybell.outcomes', ...ASIDE],
    take: ['waybell.outcomes.log', ...lanes('delivery-log'), ...lanes('sent-by-hand')],
  },
  upstream: { publish: ['waybell.events'], take: ['waybell.rejections', 'waybell.operations'] },
  declare: { publish: exchanges, take: queues },
  // Through the default exchange it reaches every queue; some share their name with an exchange.
  operator: {
    publish: ['waybell.events', 'waybell.deliveries', '', 'waybell.strays', 'waybell.waiting'],
    take: ['waybell.rejected'],
  },
};

const broker = shared(() => TestBroker.start());

const users = Object.keys(permissions) as BrokerUser[];

const urlOf = (user: BrokerUser): string => asUser(brokerUser(user), broker.url);

async function as<T>(user: BrokerUser, work: (connection: ChannelModel) => Promise<T>): Promise<T> {
  const connection = await connect(urlOf(user));
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** Returns whether the broker permits it; throws any error but a refusal. */
async function isAllowed(
  connection: ChannelModel,
  work: (channel: ConfirmChannel) => Promise<unknown>,
): Promise<boolean> {
  const channel = await connection.createConfirmChannel();
  const closed = Promise.withResolvers<boolean>();
  channel.on('error', (error: Error) =>
    /ACCESS.REFUSED/.test(error.message) ? closed.resolve(false) : closed.reject(error),
  );
  return Promise.race([
    closed.promise,
    work(channel).then(
      async () => (await channel.close(), true),
      async () => closed.promise,
    ),
  ]);
}

async function allowedOf(
  connection: ChannelModel,
  names: readonly string[],
  work: (channel: ConfirmChannel, name: string) => Promise<unknown>,
): Promise<string[]> {
  const answers = await Promise.all(
    names.map(async (name) => ({ name, isAllowed: await isAllowed(connection, (channel) => work(channel, name)) })),
  );
  return answers.filter((answer) => answer.isAllowed).map(({ name }) => name);
}

describe('a user of RabbitMQ', () => {
  test.each(users)('that is %s publishes and takes where its service does, and nowhere else', async (user) => {
    await as(user, async (connection) => {
      const publish = await allowedOf(connection, ['', ...exchanges], async (channel, exchange) => {
        channel.publish(exchange, 'nowhere', Buffer.from('{}'));
        await channel.waitForConfirms();
      });
      const take = await allowedOf(connection, queues, (channel, queue) => channel.get(queue));
      expect({ publish: publish.toSorted(), take: take.toSorted() }).toEqual({
        publish: MAY[user].publish.toSorted(),
        take: MAY[user].take.toSorted(),
      });
    });
  });

  test.each(users.filter((user) => user !== 'declare'))(
    'that is %s creates, binds and deletes nothing',
    async (user) => {
      await as(user, async (connection) => {
        const allowed = await Promise.all([
          isAllowed(connection, (channel) => channel.assertQueue('waybell.deliveries.mine')),
          isAllowed(connection, (channel) => channel.assertExchange('waybell.mine', 'fanout')),
          isAllowed(connection, (channel) => channel.deleteQueue('waybell.retry.carrier.order.created.1h')),
          isAllowed(connection, (channel) => channel.bindQueue('waybell.rejected', 'waybell.deliveries', '#')),
          isAllowed(connection, (channel) => channel.unbindQueue('waybell.rejected', 'waybell.rejected', '')),
        ]);
        expect(allowed).toEqual(allowed.map(() => false));
      });
    },
  );

  test('that is upstream leads nothing back to the line: no exchange may be bound to that of events', async () => {
    await as('upstream', async (connection) => {
      const bound = await allowedOf(connection, exchanges, (channel, exchange) =>
        channel.bindExchange('waybell.events', exchange, '#'),
      );
      expect(bound).toEqual([]);
    });
  });

  test('that declares may do so, and creates nothing but what is of the line', async () => {
    await declareTopology({ url: urlOf('declare') }, smallTopology);
    await as('declare', async (connection) => {
      expect(await isAllowed(connection, (channel) => channel.assertQueue('others'))).toBe(false);
    });
  });
});

test('the operator may ask after every queue of the line, which takes some right since RabbitMQ 4.3.1', () => {
  const { configure, write, read } = permissions.operator;
  const hasRight = (name: string) => [configure, write, read].some((names) => new RegExp(names).test(name));
  expect(queues.filter((name) => !hasRight(name))).toEqual([]);
});
