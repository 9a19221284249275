import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect, type ChannelModel, type ConfirmChannel } from 'amqplib';
import { why } from '@waybell/subscription-api/why';
import { RejectedQueue } from '@waybell/line/operating/rejected-queue';
import { brokerUser } from '@waybell/line/line-topology';
import { rejectionsQueueOf } from '@waybell/line/topology';
import type { Notice } from '@waybell/rejected/reject-event';
import { listRejected, showRejected } from '@waybell/rejected/rejected-messages';
import { asUser } from '@waybell/runtime/local-passwords';
import { until } from '@waybell/runtime/testing/until';
import { created, waybell } from './commands/run.ts';
import { stack } from './stand.ts';

export function rejections(): void {
  describe('upstream, with no more rights than its own,', () => {
    const upstreamUser = brokerUser('upstream');
    const seen: Notice[] = [];
    let connection: ChannelModel;
    let channel: ConfirmChannel;

    beforeAll(async () => {
      connection = await connect(asUser(upstreamUser, stack.brokerUrl));
      channel = await connection.createConfirmChannel();
    });

    afterAll(async () => connection?.close());

    async function publish(routingKey: string, body: Buffer | string, properties: object = {}): Promise<void> {
      channel.publish('waybell.events', routingKey, Buffer.from(body), { persistent: true, ...properties });
      await channel.waitForConfirms();
    }

    /** Takes notices, as docs/publishing.md does, until one is of that text. */
    const untilNotified = (isMeant: (notice: Notice) => boolean) =>
      until('it is notified', async () => {
        for (let message; (message = await channel.get('waybell.rejections', { noAck: true }));)
          seen.push(JSON.parse(message.content.toString()) as Notice); // The line writes nothing else there.
        return seen.find(isMeant);
      });

    /** Until the record is written. */
    const untilTold = (args: string, isMeant: (output: string) => boolean) =>
      until(`"${args}" tells of it`, async () => isMeant((await waybell(args)).stdout));

    /** The broker may still take the queue for that of the reader before, which has ended. */
    const fromRejected = <T>(read: (queue: RejectedQueue) => Promise<T>) =>
      until('it is read', async () => {
        await using queue = await RejectedQueue.open({ url: stack.brokerUrl });
        return { found: await read(queue) };
      }).then(({ found }) => found);

    const carrier = randomUUID();
    const spelled = (guid: string) => JSON.stringify({ ...created(carrier), guid: `{${guid.toUpperCase()}}` });

    test.each([
      ['in another case', 'Carrier.order.created', (guid: string) => JSON.stringify({ ...created(carrier), guid })],
      ['with a space at its end', 'carrier.order.created ', (guid: string) => `{"guid":"${guid}"}`],
      [
        'that is none, of a body that is broken',
        'orders',
        (guid: string) => `{"guid": "${guid}", "interface":"carrier"`,
      ],
      ['that is right, of a guid that is spelled oddly', 'carrier.order.created', spelled],
    ])('is told of an event with a key %s, and why finds it', async (_what, routingKey, bodyOf) => {
      const guid = randomUUID();
      await publish(routingKey, bodyOf(guid));
      const notice = await untilNotified((each) => each.guid === guid);
      expect(notice).toMatchObject({ interface: 'carrier', routing_key: routingKey, detail: expect.any(String) });
      const told = await until('it is told of', async () => {
        const answer = await why(stack.postgres, { text: guid, as: 'event', limit: 1 });
        return answer.kind === 'events' && answer.page.entries[0];
      });
      expect(told.verdicts).toMatchObject([{ kind: 'rejected', reason: notice.reason }]);
      expect(await fromRejected((queue) => listRejected(queue, { about: guid }))).toMatchObject([
        { reason: notice.reason, routingKey },
      ]);
      const { body } = await fromRejected((queue) => showRejected(queue, guid));
      expect(body.toString()).toBe(bodyOf(guid));
    });

    test('is told which place is wrong, and the nearest right key', async () => {
      const [wrong, mistyped] = [{ ...created(carrier), occurred_at: 'yesterday' }, created(carrier)];
      await publish('carrier.order.created', JSON.stringify(wrong), { messageId: wrong.guid });
      await publish('carrier.order.createt', JSON.stringify(mistyped), { messageId: mistyped.guid });
      expect(await untilNotified(({ guid }) => guid === wrong.guid)).toMatchObject({
        reason: 'envelope_invalid',
        place: '/occurred_at',
        message_id: wrong.guid,
        nearest: null,
      });
      expect(await untilNotified(({ guid }) => guid === mistyped.guid)).toMatchObject({
        reason: 'unroutable',
        nearest: 'carrier.order.created',
      });
    });

    test('is told of an event without a guid, which is found by what it is about', async () => {
      const order = randomUUID();
      const body = `{"order_guid": "${order}", \uD800\0`;
      await publish('nobody\0.order', body, { messageId: `\u0001${order}` });
      await untilNotified(({ message_id: id }) => id?.includes(order) === true);
      await untilTold(`why --subject ${order}`, (output) => output.includes('stands for its bytes'));
      expect((await waybell(`rejected purge --about ${order} --yes`)).stdout).toMatch(/^\w{10} deleted\n$/);
    });

    test('has a queue for one user alone, where that is declared: others are not told there', async () => {
      const own = rejectionsQueueOf(upstreamUser);
      await using admin = await administrator();
      expect((await waybell(`declare --rejections-for ${upstreamUser}`)).stderr).toContain(`declared ${own}`);
      const [named, unnamed] = [randomUUID(), randomUUID()];
      await publish('orders', '{}', { messageId: named, userId: upstreamUser });
      await publish('orders', '{}', { messageId: unnamed });
      await untilNotified(({ guid }) => guid === unnamed);
      const message = await until('it is there', () => admin.channel.get(own, { noAck: true }));
      expect(JSON.parse(message.content.toString())).toMatchObject({ guid: named });
      expect(seen.map(({ guid }) => guid)).not.toContain(named);
      await admin.channel.deleteQueue(own);
    });
  });
}

async function administrator(): Promise<AsyncDisposable & { channel: ConfirmChannel }> {
  const connection = await connect(stack.brokerUrl);
  const channel = await connection.createConfirmChannel();
  return { channel, [Symbol.asyncDispose]: () => connection.close() };
}
