import { randomUUID } from 'node:crypto';
import { until } from '@waybell/runtime/testing/until';
import { hang, type Hang } from './hang.ts';
import { putByHand } from './put-by-hand.ts';
import type { Receiver } from './receiver.ts';
import type { Client, TestStack } from './test-stack.ts';

/** The action to which a dead shipper is subscribed. */
export const DEAD_ACTION = 'order.paid';

/** A shipper whose endpoint hangs, and so many deliveries that wait for it. */
export type DeadShipper = { client: Client; subscription: string; hung: Hang };

export async function deadShipper({
  stack,
  receiver,
  waiting,
}: {
  stack: TestStack;
  receiver: Receiver;
  waiting: number;
}): Promise<DeadShipper> {
  const client = await stack.client('shipper');
  const hung = hang(receiver, `/${randomUUID()}`);
  await client.subscribe(DEAD_ACTION, receiver.url(hung.path));
  const subscription = await stack.subscriptionAt(receiver.url(hung.path));
  const body = JSON.stringify({ action: DEAD_ACTION, order_guid: randomUUID() });
  const deliveries = Array.from({ length: waiting }, () => ({ delivery: randomUUID(), event: randomUUID(), body }));
  await putByHand(stack.postgres, {
    subscription,
    interface: 'shipper',
    action: DEAD_ACTION,
    deliveries,
  });
  await until('it is asked and does not answer', () => hung.open() > 0);
  return { client, subscription, hung };
}
