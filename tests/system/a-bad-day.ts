import { randomUUID } from 'node:crypto';
import { messageGuid } from '@waybell/notifications/notification';
import { connectRedis } from '@waybell/runtime/redis';
import { until } from '@waybell/runtime/testing/until';
import { createToken } from '@waybell/subscription-api/tokens';
import { silentLog } from '@waybell/runtime/testing/patience';
import { anEvent } from '../testing/event.ts';
import type { Client } from '../testing/test-stack.ts';
import { told } from '../testing/told.ts';
import { adminPort, receiver, stack } from './stand.ts';

/** Variables in docs/support.md, such as `$DELIVERY`; and a function that ends the retries of one delivery. */
export type BadDay = { env: Record<string, string>; end: () => void };

/** A day of a carrier whose receiver is out of order for a while, and of a shipper who waits for a retry. */
export async function aBadDay(): Promise<BadDay> {
  const carrier = await stack.client('carrier');
  const { promise: hasEnded, resolve: end } = Promise.withResolvers<void>();
  const operators = { accountGuid: carrier.account, clientId: 'operators', scopes: ['admin'] };
  const env = {
    API_URL: stack.stack.addresses['API_URL'] ?? '',
    ADMIN_URL: `http://127.0.0.1:${adminPort}`,
    ADMIN_TOKEN: await createToken(stack.postgres, operators),
    ACCOUNT: carrier.account,
    TOKEN: carrier.token,
    OTHER_TOKEN: (await stack.clientOf(carrier.account, 'carrier', 'other')).token,
  };
  await withoutSubscription(carrier);
  const broken = await withBrokenReceiver(carrier);
  const wrong = await publishedWrongly(carrier);
  const fixed = await withFixedReceiver(carrier);
  const retried = await withRetries(hasEnded);
  return { env: { ...env, ...broken, ...wrong, ...fixed, ...retried }, end };
}

const order = (id: number, more: Record<string, unknown> = {}) => ({ payload: { id, status: 'new', ...more } });

/** Events of actions that the carrier is not subscribed to, or is only later. */
async function withoutSubscription(carrier: Client): Promise<void> {
  await carrier.hear('order.updated', order(4712));
  await carrier.hear('order.updated', order(1, { number: '4712' }));
  await carrier.hear('order.updated', { ...order(4714), parties: { carrier: randomUUID() } });
  const subject = { specversion: '1.0', id: randomUUID(), source: '/tms', subject: 'orders/4715' };
  const data = { parties: { carrier: carrier.account }, ...order(2) };
  const cloudEvent = { ...subject, type: 'carrier.order.assigned', time: '2026-11-20T09:30:00Z', data };
  await stack.upstream.publishRaw('carrier.order.assigned', Buffer.from(JSON.stringify(cloudEvent)), subject.id, {
    contentType: 'application/cloudevents+json',
  });
  await carrier.hear('order.delivered', order(4716));
  await untilKnown(carrier, '4716');
  await carrier.subscribe('order.delivered', receiver.url('/delivered'));
}

/** An order is not taken, which switches the subscription off; another comes after that. */
async function withBrokenReceiver(carrier: Client) {
  receiver.answer('/broken', (response) => response.writeHead(500).end('Out of order'));
  await carrier.subscribe('order.created', receiver.url('/broken'));
  const subscription = await stack.subscriptionAt(receiver.url('/broken'));
  const vehicles = [{ guid: randomUUID(), vin: '1HGCM82633A004352' }];
  const event = await carrier.hear('order.created', order(4711, { vehicles }));
  const delivery = messageGuid(event.guid, subscription);
  await untilIs(carrier, delivery, 'exhausted');
  // One that is ended before that is never switched off.
  await until('the subscription is off', async () => {
    const { body } = await carrier.call('GET', '/v1/webhooks/order.created/subscriptions/');
    return (body as { is_active: boolean }[])[0]?.is_active === false;
  });
  await carrier.hear('order.created', order(4713));
  await untilKnown(carrier, '4713');
  return { SUBSCRIPTION: subscription, DELIVERY: delivery };
}

async function publishedWrongly(carrier: Client) {
  const invalid = { ...order(3), occurred_at: 'yesterday' };
  const { guid: REJECTED_EVENT } = await carrier.hear('order.created', invalid);
  const misrouted = anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: carrier.account } });
  const body = Buffer.from(JSON.stringify({ ...misrouted, ...order(4) }));
  await stack.upstream.publishRaw('Carrier.order.created', body, misrouted.guid);
  return { REJECTED_EVENT, MISROUTED_EVENT: misrouted.guid };
}

/** Subscribes again; then an event is delivered twice. */
async function withFixedReceiver(carrier: Client) {
  await carrier.unsubscribe('order.created');
  await carrier.subscribe('order.created', receiver.url('/fixed'));
  const subscription = await stack.subscriptionAt(receiver.url('/fixed'));
  const twice = await carrier.hear('order.created', order(5));
  const delivery = messageGuid(twice.guid, subscription);
  await untilIs(carrier, delivery, 'delivered');
  // Redis has lost what it remembered, those who did it were restarted, and upstream is not sure that it published this.
  await using redis = connectRedis({ url: stack.stack.servers.url('redis'), timeoutMs: 60_000, log: silentLog });
  // Each is remembered after it was passed on.
  await until('the event and its delivery are remembered', async () => {
    const remembered = (await redis.keys('*').catch(() => [])).join();
    return [twice.guid, delivery].every((guid) => remembered.includes(guid));
  });
  for (const service of ['event-router', 'deliverer']) await stack.stack.service(service).stop();
  await until('Redis has forgotten', () => redis.flushdb().catch(() => false));
  for (const service of ['event-router', 'deliverer']) await stack.stack.service(service).start();
  await stack.upstream.publish(twice);
  await receiver.untilReceived('/fixed', 2);
  return { CURRENT_SUBSCRIPTION: subscription, DELIVERED_TWICE: delivery };
}

/** Something of a shipper is retried until the day has ended. */
async function withRetries(hasEnded: Promise<void>) {
  const shipper = await stack.client('shipper');
  receiver.answer('/slow', (response, { headers }) => {
    const isFirst = headers['x-webhook-attempt'] === '1';
    void (isFirst ? Promise.resolve() : hasEnded).then(() => response.writeHead(isFirst ? 503 : 200).end());
  });
  await shipper.subscribe('order.paid', receiver.url('/slow'));
  const { payload } = await shipper.hear('order.paid');
  return { SHIPPER_TOKEN: shipper.token, ORDER: String(payload['order_guid']) };
}

async function untilKnown(client: Client, key: string): Promise<void> {
  await until(`what became of ${key} is known`, async () => (await told(client, key)).length > 0);
}

async function untilIs(client: Client, delivery: string, status: string): Promise<void> {
  await until(`${delivery} is ${status}`, async () => {
    const { body } = await client.call('GET', `/v1/deliveries/${delivery}`);
    return (body as { status?: string }).status === status;
  });
}
