import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect, type Channel, type ChannelModel } from 'amqplib';
import { lineTopology, brokerUser } from '@waybell/line/line-topology';
import { declareTopology } from '@waybell/line/operating/declare';
import type { NoticeKind, OperationsNotice } from '@waybell/line/operations-notice';
import { operationsQueue, rejectedQueue, rejectionsQueue } from '@waybell/line/topology';
import { asUser } from '@waybell/runtime/local-passwords';
import { until } from '@waybell/runtime/testing/until';
import { integrator, type Integrator } from '../testing/integrator.ts';
import { readLive } from '@waybell/subscription-api/testing/live-reader';
import { onChannel } from '../testing/on-channel.ts';
import { replicaOf } from '../testing/replica.ts';
import { CARRIER_ATTEMPTS, receiver, SHIPPER_ATTEMPTS, stack } from './stand.ts';

/** The platform's queue of notices, read with no more rights than its own. */
export function operations(): void {
  describe('the platform', () => {
    const told: OperationsNotice[] = [];
    let connection: ChannelModel;
    let channel: Channel;

    beforeAll(async () => {
      connection = await connect(asUser(brokerUser('upstream'), stack.brokerUrl));
      channel = await connection.createChannel();
    });
    afterAll(async () => connection?.close());

    async function notices(): Promise<readonly OperationsNotice[]> {
      for (let message; (message = await channel.get(operationsQueue, { noAck: true }));) {
        const notice = JSON.parse(message.content.toString()) as OperationsNotice; // The line writes nothing else there.
        expect(message.fields.routingKey).toBe(`operations.${notice.kind}`);
        expect(message.properties).toMatchObject({ messageId: notice.guid, contentType: 'application/json' });
        told.push(notice);
      }
      return told;
    }

    const untilTold = (kind: NoticeKind, guid: string) =>
      until(`${kind} is told`, async () =>
        (await notices()).find((each) => each.kind === kind && each.subscription_guid === guid),
      );

    const anIntegrator = (interfaceName: 'carrier' | 'shipper') => integrator({ stack, receiver, interfaceName });

    async function fails(us: Integrator, attempts: number): Promise<string> {
      us.answer(500);
      await us.hear();
      await us.untilAsked(attempts);
      return (await us.standing()).guid;
    }

    test('is told when a subscription fails, goes off and ends, and so is its client', async () => {
      const carrier = await anIntegrator('carrier');
      const port = Number(new URL(stack.stack.addresses['API_URL'] ?? '').port);
      await using live = await readLive(port, { token: carrier.client.token, query: '?kind=notice' });
      const guid = await fails(carrier, CARRIER_ATTEMPTS);
      const delivery = receiver.at(carrier.path)[0]?.headers['webhook-id'];
      const of = {
        interface: 'carrier',
        account_guid: carrier.client.account,
        client_id: 'default',
        action: 'order.created',
        subscription_guid: guid,
        callback_url: receiver.url(carrier.path),
        delivery_guid: delivery,
      };
      expect(await untilTold('delivery.exhausted', guid)).toMatchObject({
        ...of,
        reason: 'http_5xx',
        status: 500,
        count: 1,
      });
      const off = await untilTold('subscription.switched_off', guid);
      expect(off).toMatchObject({ ...of, reason: 'exhausted', missed: { until: null, count: 0 } });
      await carrier.client.unsubscribe('order.created');
      const ended = await untilTold('subscription.ended', guid);
      expect(ended).toMatchObject({ reason: 'unsubscribed', subscription_guid: guid });
      await until('its client is told the same', () => live.of('notice').length === 3);
      const { account_name: _, ...known } = off;
      expect(live.of('notice')[1]).toEqual(known);
    });

    test('is told what a subscription missed that is switched on again in place', async () => {
      const carrier = await anIntegrator('carrier');
      const guid = await fails(carrier, CARRIER_ATTEMPTS);
      await carrier.untilOff();
      await carrier.hear();
      await carrier.hear();
      await until('the log knows that both were suppressed', async () => {
        const { rows } = await stack.postgres.query(
          'select count(*)::int as events from delivery_log.events where account = $1',
          [carrier.client.account],
        );
        return rows[0].events === 3;
      });
      const { status } = await carrier.client.call('PATCH', `/v1/subscriptions/${guid}`, { is_active: true });
      expect(status).toBe(200);
      const off = await untilTold('subscription.switched_off', guid);
      const on = await untilTold('subscription.switched_on', guid);
      expect(on).toMatchObject({ reason: 'switched_on', delivery_guid: off.delivery_guid, missed: { count: 3 } });
      expect(on.missed?.since).toBe(off.missed?.since);
    });

    test('is told of deliveries that fail where nothing goes off', async () => {
      const shipper = await anIntegrator('shipper');
      const guid = await fails(shipper, SHIPPER_ATTEMPTS);
      expect(await untilTold('delivery.exhausted', guid)).toMatchObject({ interface: 'shipper', count: 1 });
      expect(await shipper.standing()).toMatchObject({ is_active: true });
    });

    test('is told of a certificate that ends, and so is its client', async () => {
      const { client } = await anIntegrator('carrier');
      const port = Number(new URL(stack.stack.addresses['API_URL'] ?? '').port);
      await using live = await readLive(port, { token: client.token, query: '?kind=notice' });
      await stack.postgres.query(
        `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id, certificate_ends_at)
         values (gen_random_uuid(), $1, 'default', 'receiver.example', '{certificate}', '{}', '\\x00', 'k', '2026-01-01Z')`,
        [client.account],
      );
      const ending = await until('it is told', async () =>
        (await notices()).find(({ account_guid: account }) => account === client.account),
      );
      expect(ending).toMatchObject({
        kind: 'certificate.ending',
        host: 'receiver.example',
        ends_at: '2026-01-01T00:00:00.000Z',
      });
      await until('its client is told the same', () => live.of('notice').length === 1);
      const { account_name: _, ...known } = ending;
      expect(live.of('notice')).toEqual([known]);
    });

    test('is told of nothing where its queue is missing: the line goes on, and nothing is put aside', async () => {
      const aside = () =>
        onChannel(stack.brokerUrl, async (broker) => {
          const counted = [rejectedQueue, rejectionsQueue].map((queue) => broker.checkQueue(queue));
          return (await Promise.all(counted)).map(({ messageCount }) => messageCount);
        });
      const before = await aside();
      const { rows: old } = await stack.postgres.query(
        `insert into waybell.notices (kind, interface, account, client, at, published_at)
         values ('endpoint.waiting', 'carrier', gen_random_uuid(), 'default', now() - interval '8 days', now()) returning guid`,
      );
      await onChannel(stack.brokerUrl, (broker) => broker.deleteQueue(operationsQueue));
      const carrier = await anIntegrator('carrier');
      const guid = await fails(carrier, CARRIER_ATTEMPTS);
      await carrier.untilOff();
      await until('nothing is left to be published', async () => {
        const { rows } = await stack.postgres.query(
          'select count(*)::int as all, count(published_at)::int as published from waybell.notices where subscription = $1',
          [guid],
        );
        return rows[0].all === 2 && rows[0].published === 2;
      });
      expect(await aside()).toEqual(before);
      const schedule = { shipper: [], carrier: [] };
      const { queues } = lineTopology({ schedule, eventsLimitBytes: 1, quorumSize: 1 });
      const missing = queues.filter(({ name }) => name === operationsQueue);
      await declareTopology({ url: stack.brokerUrl }, { exchanges: [], queues: missing });
      await carrier.client.unsubscribe('order.created');
      await untilTold('subscription.ended', guid);
      await until('what was told a week ago is forgotten', async () => {
        const left = 'select from waybell.notices where guid = $1';
        return (await stack.postgres.query(left, [old[0].guid])).rows.length === 0;
      });
    });

    describe('of two deactivators', () => {
      test('is told of each subscription once', async () => {
        const second = await replicaOf(stack.stack.service('deactivator'));
        try {
          const carriers = await Promise.all(Array.from({ length: 10 }, () => anIntegrator('carrier')));
          const guids = await Promise.all(carriers.map((carrier) => fails(carrier, CARRIER_ATTEMPTS)));
          await Promise.all(guids.map((guid) => untilTold('subscription.switched_off', guid)));
          await Promise.all(carriers.map(({ client }) => client.unsubscribe('order.created')));
          await Promise.all(guids.map((guid) => untilTold('subscription.ended', guid)));
          const of = new Set(guids);
          const kinds = (await notices()).flatMap(({ kind, subscription_guid: guid }) =>
            guid !== null && of.has(guid) ? [`${kind} ${guid}`] : [],
          );
          expect(kinds).toHaveLength(30);
          expect(new Set(kinds).size).toBe(30);
        } finally {
          await second.stop();
        }
      });
    });
  });
}
