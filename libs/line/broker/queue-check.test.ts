import { describe, expect, jest, test } from '@jest/globals';
import { asUser } from '@waybell/runtime/local-passwords';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { brokerUser } from '../line-topology.ts';
import { TestBroker } from '../testing/test-broker.ts';
import { deliveriesExchange } from '../topology.ts';
import { connectBroker, type BrokerOptions } from './connect-broker.ts';

const broker = shared(() => TestBroker.start());

const connected = (options: Partial<BrokerOptions>) =>
  connectBroker({
    url: broker.detour.url,
    name: 'test',
    exchanges: [],
    confirmTimeoutMs: 30_000,
    unconfirmedLimit: 1_000,
    log,
    ...options,
  });

/** Many existing queues, with the missing ones among them. */
const among = async (...missing: string[]) => {
  const there = await Promise.all(Array.from({ length: 20 }, () => broker.queue()));
  return [...there.slice(0, 10), ...missing, ...there.slice(10)];
};
const lacking = (queue: string) => `queue ${queue} (./waybell declare)`;

describe('a service that publishes to queues', () => {
  test('says which of them are missing and what to do, looks again, and works for the others meanwhile', async () => {
    const clock = new TurnedClock();
    const after = jest.spyOn(clock, 'after');
    const publishesTo = await among('waybell.test.lacking', 'waybell.test.missing');
    await using connection = await connected({ publishesTo, clock });
    await until('it has looked', () => connection.waitingFor().length === 2);
    expect(after.mock.calls.map(([delayMs]) => delayMs)).toContain(5_000);
    await until('it can publish', () => connection.state() === 'writable');
    expect(connection.waitingFor().toSorted()).toEqual(['waybell.test.lacking', 'waybell.test.missing'].map(lacking));
    const [there = ''] = publishesTo;
    const body = Buffer.from('x');
    await connection.publish({ kind: 'publish', exchange: deliveriesExchange, routingKey: there, body });
    await broker.declare('waybell.test.missing');
    await until('it has looked again', async () => {
      await clock.runFor(5_000);
      return connection.waitingFor().join() === lacking('waybell.test.lacking');
    });
    await broker.declare('waybell.test.lacking');
    await until('it lacks nothing', async () => {
      await clock.runFor(5_000);
      return connection.waitingFor().length === 0;
    });
  });

  test('looks after each reconnect, and does not look through what it knew before', async () => {
    const queue = await broker.queue();
    await using connection = await connected({ publishesTo: [queue] });
    await until('nothing is missing', () => connection.waitingFor().length === 0);
    await broker.delete(queue);
    broker.detour.cut();
    await until('it is missed', () => connection.waitingFor().join() === lacking(queue));
  });

  test('looks when something that it published came back', async () => {
    const queue = await broker.queue();
    const clock = new TurnedClock();
    await using connection = await connected({ publishesTo: [queue], clock });
    await until('nothing is missing', () => connection.waitingFor().length === 0);
    await until('it can publish', () => connection.state() === 'writable');
    await broker.delete(queue);
    const body = Buffer.from('x');
    await expect(
      connection.publish({ kind: 'publish', exchange: deliveriesExchange, routingKey: queue, body }),
    ).rejects.toThrow('no queue is bound');
    await until('it is missed', async () => {
      await clock.runFor(5_000);
      return connection.waitingFor().join() === lacking(queue);
    });
  });

  test('is not ready before it has looked once, and waits for the broker first', async () => {
    await using away = await connected({ url: 'amqp://127.0.0.1:1', publishesTo: ['any'] });
    expect(away.waitingFor()).toEqual(['rabbitmq']);
    broker.detour.stallAt('waybell.test.asked');
    await using asking = await connected({ publishesTo: ['waybell.test.asked'] });
    await until('it asks', () => broker.detour.said.includes('waybell.test.asked'));
    expect(asking.waitingFor()).toEqual(['a look at the queues']);
    broker.detour.flow();
    await until('it is answered', () => asking.waitingFor().join() === lacking('waybell.test.asked'));
  });

  test('needs no right to them but that of its service', async () => {
    const url = asUser(brokerUser('deactivator'), broker.url);
    await broker.delete('waybell.outcomes.log');
    await using connection = await connected({ url, publishesTo: ['waybell.rejected', 'waybell.outcomes.log'] });
    await until('it has looked', () => connection.waitingFor().join() === lacking('waybell.outcomes.log'));
  });

  test('says of a queue that it has no right to which command is for it, by the version of the broker', async () => {
    const url = asUser(brokerUser('upstream'), broker.url);
    await using connection = await connected({ url, publishesTo: ['waybell.rejections', 'waybell.not.there'] });
    await until('it has looked', () => connection.waitingFor().join().startsWith('queue '));
    expect(connection.waitingFor().join()).toMatch(/^queue waybell\.not\.there \(\.\/waybell (declare|permissions)\)$/);
  });
});
