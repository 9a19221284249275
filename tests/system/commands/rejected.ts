import { beforeEach, describe, expect, test } from '@jest/globals';
import { connect, type ConfirmChannel } from 'amqplib';
import { publishOptions } from '@waybell/line/broker/amqp-message';
import { publishRejected } from '@waybell/line/hand-over/suspicion';
import { RejectedQueue } from '@waybell/line/operating/rejected-queue';
import { publishDelivery } from '@waybell/line/delivery';
import { asSent } from '@waybell/line/delivery-batch';
import type { Publication } from '@waybell/line/messages';
import { rejectedQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { Detour } from '@waybell/runtime/testing/detour';
import { aDelivery } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { adminPort, receiver, stack } from '../stand.ts';
import { created, waybell } from './run.ts';

export function rejected(): void {
  describe('rejected', () => {
    // The broker may still take the queue for that of the command before, which has ended.
    const succeeded = (args: string) =>
      until(`"${args}" succeeds`, async () => {
        const ended = await waybell(args);
        return ended.code === 0 && ended;
      });

    /** Does something that no command is needed for, each of which takes its time to start. */
    async function onBroker<T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
      const connection = await connect(stack.brokerUrl);
      try {
        return await work(await connection.createConfirmChannel());
      } finally {
        await connection.close();
      }
    }
    const untilWaiting = (count: number) =>
      until(`${count} messages are rejected`, () =>
        onBroker(async (channel) => (await channel.checkQueue(rejectedQueue)).messageCount === count),
      );

    beforeEach(async () => {
      await onBroker((channel) => channel.purgeQueue(rejectedQueue));
      await untilWaiting(0);
    });

    const list = async (): Promise<Record<string, string>[]> =>
      (await succeeded('rejected list --json')).stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Record<string, string> => JSON.parse(line));
    const untilListed = async (count: number) => {
      await untilWaiting(count);
      const listed = await list();
      expect(listed).toHaveLength(count);
      return listed;
    };

    /** Puts a message where the line would put one whose handler failed five times. */
    async function failed(from: { queue: string; exchange: string }, { body, routingKey, ...properties }: Publication) {
      const message = { ...properties, ...from, body, routingKey, deliveryCount: 0, failures: 5 };
      const rejection = { kind: 'reject', reason: 'handler_failed', detail: 'TypeError: x' } as const;
      const sent = asSent(publishRejected(message, rejection, wallClockMs()));
      await onBroker(async (channel) => {
        channel.publish('waybell.rejected', '', sent.body, publishOptions(sent));
        await channel.waitForConfirms();
      });
    }

    test('lists and shows what was refused, byte for byte, and looking changes nothing', async () => {
      const bodies = [Buffer.from([0xff, 0x00, 0x0a]), Buffer.from('{\r\n "guid": 1e400 }'), Buffer.from('[')];
      for (const [before, body] of bodies.entries()) {
        await stack.upstream.publishRaw('carrier.order.created', body);
        await untilWaiting(before + 1);
      }
      const listed = await list();
      expect(listed).toMatchObject([
        { reason: 'not_utf8', queue: 'waybell.events.router', exchange: 'waybell.events', size: 3 },
        { reason: 'envelope_invalid', routingKey: 'carrier.order.created' },
        { reason: 'not_json' },
      ]);
      for (const [number, body] of bodies.entries()) {
        expect((await succeeded(`rejected show ${listed[number]?.['id']} --raw`)).bytes).toEqual(body);
      }
      expect(await list()).toEqual(listed);
      expect((await succeeded('rejected list')).stdout).toMatch(
        /not_utf8 .*\n +byte 1 is not UTF-8: write the JSON in UTF-8\n.*envelope_invalid/,
      );
    });

    test('puts an event back as it came, once, and takes it from the list', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/retried'));
      const event = created(carrier.account);
      const routingKey = 'carrier.order.created';
      await failed(
        { queue: 'waybell.suspected.event-router', exchange: 'waybell.events' },
        { kind: 'publish', exchange: '', routingKey, body: Buffer.from(JSON.stringify(event)), messageId: event.guid },
      );
      const { code, stdout } = await waybell(`rejected retry ${event.guid}`);
      expect([code, stdout]).toEqual([0, expect.stringContaining('retried: waybell.events carrier.order.created')]);
      await receiver.untilReceived('/retried', 1);
      expect(await list()).toEqual([]);
      expect(receiver.at('/retried')).toHaveLength(1);
    });

    test('puts a delivery that came back from its retry queue back to be attempted', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/retried-delivery'));
      const { rows } = await stack.postgres.query<{ guid: string; generation: string }>(
        `select guid, generation from waybell.subscriptions where account_guid = $1`,
        [carrier.account],
      );
      const [{ guid, generation } = { guid: '', generation: '' }] = rows;
      const at = { attempt: 2, createdAt: wallClockMs(), beganAt: wallClockMs() };
      const delivery = publishDelivery(aDelivery({ subscription: guid, generation: Number(generation), ...at }));
      await failed({ queue: 'waybell.suspected.deliverer', exchange: 'waybell.returns' }, delivery);
      expect((await waybell('rejected retry --reason handler_failed')).code).toBe(0);
      const [request] = await receiver.untilReceived('/retried-delivery', 1);
      expect(request?.headers['x-webhook-attempt']).toBe('2');
      expect(await list()).toEqual([]);
    });

    test('comes back to the list when it is still wrong, without being retried in circles', async () => {
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('{'));
      const [before] = await untilListed(1);
      expect((await waybell('rejected retry --all')).stdout).toBe(
        `${before?.['id']} retried: waybell.events carrier.order.created\n`,
      );
      const [after] = await untilListed(1);
      expect(after?.['id']).not.toBe(before?.['id']);
    });

    test('keeps what has no known origin, and says so', async () => {
      const nowhere = {
        kind: 'publish',
        exchange: '',
        routingKey: 'x',
        body: Buffer.from('x'),
        messageId: 'lost',
      } as const;
      await failed({ queue: 'waybell.strays', exchange: 'waybell.strays' }, nowhere);
      const { code, stderr } = await waybell('rejected retry lost');
      expect([code, stderr]).toEqual([1, expect.stringContaining('stays')]);
      expect(await list()).toHaveLength(1);
    });

    test('deletes what was chosen, and only when told twice', async () => {
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('{'));
      await stack.upstream.publishRaw('carrier.order.createt', Buffer.from('{}'));
      await untilWaiting(2);
      expect((await waybell('rejected purge --reason not_json')).stderr).toContain('--yes');
      expect((await waybell('rejected purge --yes')).stderr).toContain('say which');
      await untilWaiting(2);
      expect((await waybell('rejected purge --reason not_json --yes')).code).toBe(0);
      expect(await list()).toMatchObject([{ reason: 'unroutable' }]);
    });

    test('is corrected and sent over HTTP too, by a token for operators and with the rights of one on the broker', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/corrected'));
      const event = created(carrier.account);
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from(JSON.stringify({ ...event, payload: 'x' })));
      await untilWaiting(1);
      const { stdout: token } = await waybell(`token create --account ${carrier.account} --scope admin`);
      const ask = async (method: string, path: string, body?: unknown) => {
        const response = await fetch(`http://127.0.0.1:${adminPort}/v1/admin/${path}`, {
          method,
          headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        expect([path, response.status]).toEqual([path, 200]);
        // Each of these has a list of objects in the operators' document, or none.
        return (await response.json()) as { objects: { id: string; name: string; reason: string }[] };
      };
      const { objects: queues } = await ask('GET', 'queues');
      expect(queues.map(({ name }) => name)).toEqual(expect.arrayContaining([rejectedQueue, 'waybell.events.router']));
      const [wrong] = (await ask('GET', `rejected?about=${event.guid}`)).objects;
      expect(wrong?.reason).toBe('payload_invalid');
      await ask('POST', 'rejected/retry', { ids: [event.guid] });
      await untilWaiting(1);
      const [again] = (await ask('GET', 'rejected')).objects;
      await ask('POST', `rejected/${again?.id}/publish`, event);
      await receiver.untilReceived('/corrected', 1);
      await untilWaiting(0);
    });

    test('does not look empty while another command reads it, and gets everything back from one that is killed', async () => {
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('{'));
      await untilWaiting(1);
      await using proxy = await Detour.to(stack.brokerUrl);
      const reader = await RejectedQueue.open(proxy);
      for await (const _rejected of reader.messages());
      const { code, stderr } = await waybell('rejected list');
      expect([code, stderr]).toEqual([1, expect.stringContaining('another command')]);
      await proxy.shut();
      await reader[Symbol.asyncDispose]();
      await untilListed(1);
    });
  });
}
