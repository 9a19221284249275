import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Publication, Unconfirmed } from '../messages.ts';
import { TestBroker } from '../testing/test-broker.ts';
import { deliveriesExchange, eventsExchange } from '../topology.ts';
import { openCommandPublisher } from './operator-line.ts';
import { shared } from '@waybell/runtime/testing/shared';
import { PATIENT_MS } from '@waybell/runtime/testing/patience';

const broker = shared(() => TestBroker.start());
let queue: string;

beforeAll(async () => {
  queue = await broker.queue();
});

const aPublication = (routingKey: string): Publication => ({
  kind: 'publish',
  exchange: deliveriesExchange,
  routingKey,
  body: Buffer.from('x'),
});

describe('openCommandPublisher', () => {
  test('tells what a queue has from what no queue takes', async () => {
    await using publisher = await openCommandPublisher(broker, PATIENT_MS);
    const keys = [queue, 'nobody.is.bound', queue];
    const answers = await Promise.all(keys.map((key) => publisher.publish(aPublication(key))));
    expect(answers).toEqual(['confirmed', 'unroutable', 'confirmed']);
    expect(await broker.takeBodies(queue, 2)).toEqual(['x', 'x']);
  });

  test('does not say that the broker has what it did not confirm in time', async () => {
    await using publisher = await openCommandPublisher(broker.detour, 10);
    broker.detour.stall();
    const answer = await publisher.publish(aPublication(queue)).catch((error: unknown) => error);
    broker.detour.flow();
    expect(answer).toBeInstanceOf(Unconfirmed);
    expect(String(answer)).toContain('within 10 ms');
  });

  test('fails what is on its way, and all that follows, when the connection goes', async () => {
    await using publisher = await openCommandPublisher(broker.detour, PATIENT_MS);
    broker.detour.stall();
    const onItsWay = publisher.publish(aPublication(queue));
    broker.detour.cut();
    broker.detour.flow();
    await expect(onItsWay).rejects.toThrow(Unconfirmed);
    await expect(publisher.publish(aPublication(queue))).rejects.toThrow(Unconfirmed);
  });

  test('says how the line is created where there is none', async () => {
    await broker.on((channel) => channel.deleteExchange(eventsExchange));
    await expect(openCommandPublisher(broker, PATIENT_MS)).rejects.toThrow('./waybell declare');
  });
});
