import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BreakableBroker } from '@waybell/line/testing/test-broker';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { until } from '@waybell/runtime/testing/until';
import { InvalidEvent } from './publish-errors.ts';
import { outboxEvent, readOutboxFigures } from './outbox.ts';
import { outboxMigration } from './outbox-migration.ts';
import { createPublisher } from './publisher.ts';
import type { FailedEvent } from './relay-batch.ts';
import { createRelay } from './relay.ts';
import { anEvent } from './testing/an-event.ts';
import { put } from './testing/outbox-stand.ts';
import { tapped } from './testing/tapped.ts';

const LARGEST_BYTES = 2_000;
let broker: BreakableBroker;
let database: TestDatabase;

const largest = (bytes: number) =>
  broker.evaluate(
    `application:set_env(rabbit, max_message_size, ${bytes}), persistent_term:put(max_message_size, ${bytes})`,
  );
const large = () => ({
  ...anEvent(),
  payload: { id: 1, status: 'x'.repeat(LARGEST_BYTES) },
});

beforeAll(async () => {
  [broker, database] = await Promise.all([BreakableBroker.start(), createTestDatabase({ isMigrated: false })]);
  await database.postgres.query(outboxMigration);
  await largest(LARGEST_BYTES);
});
afterAll(async () => {
  await largest(2 ** 24);
  await database[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

describe('an event that the broker never takes', () => {
  test('is refused, and those beside it are published', async () => {
    const queue = await tapped(broker);
    const publisher = createPublisher({ url: broker.url });
    const sent = [publisher.publish(anEvent(1)), publisher.publish(large() as never), publisher.publish(anEvent(2))];
    await expect(sent[1]).rejects.toBeInstanceOf(InvalidEvent);
    await expect(sent[1]).rejects.toMatchObject({
      reason: 'too_large',
      detail: expect.stringContaining('2000 at most'),
    });
    await Promise.all([sent[0], sent[2]]);
    expect(new Set((await broker.take(queue)).map(({ properties }) => properties.messageId)).size).toBe(2);
    await publisher.close();
  });

  test('is set aside in the outbox with the reason, and holds up no other', async () => {
    const queue = await tapped(broker);
    const { guid, text, values } = outboxEvent(large() as never);
    await database.postgres.query(text, values);
    const written = await put(database.postgres);
    const publisher = createPublisher({ url: broker.url });
    const failed: FailedEvent[] = [];
    const onFailed = (each: FailedEvent) => {
      failed.push(each);
      throw new Error('who hears of it fails');
    };
    const relay = createRelay({ pool: database.postgres, publisher, onFailed });
    await until('the other is published', async () => (await readOutboxFigures(database.postgres)).waiting === 0);
    expect(new Set((await broker.take(queue)).map(({ content }) => content.toString()))).toEqual(new Set([written]));
    expect(failed).toEqual([{ guid, routingKey: 'carrier.order.created', why: expect.stringContaining('too_large') }]);
    expect(await readOutboxFigures(database.postgres)).toMatchObject({ waiting: 0, failed: 1 });
    const { rows } = await database.postgres.query('select guid, failed from waybell_outbox');
    expect(rows).toEqual([{ guid, failed: failed[0]?.why }]);
    await relay.close();
    await publisher.close();
  });
});
