import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { createAccount } from '@waybell/subscription-api/accounts';
import { createToken } from '@waybell/subscription-api/tokens';
import { anEvent, type PublishedEvent } from '../testing/event.ts';
import { ask } from '../testing/told.ts';
import { hostile, stack, subscribed, type Account } from './stand.ts';

/** A carrier with data for everything that its pages can show. */
export type Furnished = {
  carrier: Account;
  name: string;
  /** The number of an order that came to a delivery given up, one delivered, one suppressed, and one rejected event. */
  order: string;
  /** The delivery that was given up, which switched its subscription off. */
  delivery: string;
  event: string;
  subscription: string;
  /** The path whose calls fail. */
  path: string;
  rejected: PublishedEvent;
};

let lastOrder = 52_814_000;

/** The number of an order that no other test has. */
export const anOrder = (): number => (lastOrder += 7);

/** A carrier of that name. */
export async function namedCarrier(name: string): Promise<Account> {
  const { guid } = await createAccount(stack.postgres, { interface: 'carrier', name });
  const client = await stack.clientOf(guid, 'carrier');
  const token = (scope: 'webhooks:read' | 'webhooks:write') =>
    createToken(stack.postgres, { accountGuid: guid, scopes: [scope] });
  const [read, write] = await Promise.all([token('webhooks:read'), token('webhooks:write')]);
  return { ...client, tokens: { read, write, both: client.token } };
}

/** Waits until the log says so of a delivery. */
export async function untilStatus(client: Account, delivery: string, wanted: string): Promise<void> {
  await until(`delivery ${delivery} is ${wanted}`, async () => {
    const { status } = await ask<{ status: string }>(client, `/v1/deliveries/${delivery}`);
    return status === wanted;
  });
}

export async function untilOff(client: Account, subscription: string): Promise<void> {
  await until(`subscription ${subscription} is switched off`, async () => {
    const found = await ask<{ is_active: boolean }>(client, `/v1/subscriptions/${subscription}`);
    return !found.is_active;
  });
}

let read: Promise<Furnished> | undefined;

/** One for all that only read: the same to each of them. */
export const aFurnishedCarrier = (): Promise<Furnished> => (read ??= furnish('Tuesday Freight'));

export async function furnish(name: string, answer = hostile): Promise<Furnished> {
  const carrier = await namedCarrier(name);
  const order = anOrder();
  const { path, subscription } = await subscribed(carrier, 'order.created', answer);
  const good = await subscribed(carrier, 'order.assigned');
  const payload = { id: order, number: `WB-${order}`, vehicle: '3C6UR5DL8RG104217', pickup_city: 'Fargo, ND' };
  const created = await carrier.hear('order.created', { payload: { ...payload, status: 'new' } });
  const assigned = await carrier.hear('order.assigned', { payload: { ...payload, driver: 'M. Okafor' } });
  await carrier.hear('order.picked_up', { payload });
  const delivery = messageGuid(created.guid, subscription);
  await untilStatus(carrier, delivery, 'exhausted');
  await untilStatus(carrier, messageGuid(assigned.guid, good.subscription), 'delivered');
  const rejected = await reject(carrier, { ...payload, status: 17, eta: 'soon' });
  await until('the timeline tells all of it', async () => {
    const { objects } = await ask<{ objects: unknown[] }>(carrier, `/v1/timeline/${order}`);
    return objects.length >= 4;
  });
  return { carrier, name, order: String(order), delivery, event: created.guid, subscription, path, rejected };
}

/** Publishes an event whose payload is not as its action has it. */
export async function reject(carrier: Account, payload: Record<string, unknown>): Promise<PublishedEvent> {
  const parties = { carrier: carrier.account };
  const event = anEvent({ interface: 'carrier', action: 'order.created', parties, payload });
  await stack.upstream.publishRaw('carrier.order.created', Buffer.from(JSON.stringify(event, null, 2)), event.guid);
  return event;
}
