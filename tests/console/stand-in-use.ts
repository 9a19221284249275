import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/message-guid';
import { until } from '@waybell/runtime/testing/until';
import { hang } from '../testing/hang.ts';
import { ask } from '../testing/told.ts';
import {
  anAccount,
  CARRIER_ATTEMPTS,
  HOSTILE_BODY,
  hostile,
  operatorsUrl,
  operatorToken,
  receiver,
  stack,
  subscribed,
} from './stand.ts';

type Delivery = { status: string; attempts: { answer: string }[] };

export function standInUse(): void {
  describe('the stand of these tests', () => {
    test('has deliveries given up, whatever a receiver says', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.created', hostile);
      const { guid } = await carrier.hear('order.created');
      const delivery = await until('the delivery is given up', async () => {
        const found = await ask<Delivery>(carrier, `/v1/deliveries/${messageGuid(guid, subscription)}`);
        return found.status === 'exhausted' && found;
      });
      expect(delivery.attempts).toHaveLength(CARRIER_ATTEMPTS);
      expect(delivery.attempts[0]?.answer).toBe(HOSTILE_BODY);
    });

    test('has receivers that let a delivery wait', async () => {
      const shipper = await anAccount('shipper');
      const { path } = await subscribed(shipper, 'order.paid');
      const waiting = hang(receiver, path);
      await shipper.hear('order.paid');
      await until('it is asked', () => waiting.open() === 1);
      waiting.answer(200);
    });

    test('has a token for each scope', async () => {
      const { tokens } = await anAccount('carrier');
      const statuses = async (path: string, method: string) => {
        const asked = Object.values(tokens).map(async (token) => {
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
          const body = method === 'POST' ? JSON.stringify({ callback_url: receiver.url('/tokens') }) : null;
          return (await fetch(`${stack.stack.addresses['API_URL']}${path}`, { method, headers, body })).status;
        });
        return Promise.all(asked);
      };
      const path = '/v1/webhooks/order.created/subscriptions/';
      expect(await statuses(path, 'GET')).toEqual([200, 403, 200]);
      expect((await statuses(path, 'POST'))[0]).toBe(403);
    });

    test("tells operators of the line's queues", async () => {
      const headers = { authorization: `Bearer ${await operatorToken()}` };
      const { status } = await fetch(`${operatorsUrl()}/v1/admin/queues`, { headers });
      expect(status).toBe(200);
    });
  });
}
