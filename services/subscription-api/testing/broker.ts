import { randomUUID } from 'node:crypto';
import { publishRejected } from '@waybell/line/hand-over/suspicion';
import type { Message } from '@waybell/line/messages';
import { declareTopology } from '@waybell/line/operating/declare';
import { openCommandPublisher } from '@waybell/line/operating/operator-line';
import { smallTopology } from '@waybell/line/testing/test-broker';
import { eventsExchange, routerQueue } from '@waybell/line/topology';
import { borrowVhost } from '@waybell/runtime/testing/borrow';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { PATIENT_MS } from '@waybell/runtime/testing/patience';

/** A broker with the line declared, for one action. */
export type Broker = {
  url: string;
  /** Puts messages where the line would put what it refused; resolves when the broker has them. */
  reject(...messages: (Partial<Message> & { body: Buffer })[]): Promise<void>;
};

export async function startBroker(): Promise<Broker> {
  const { url } = await borrowVhost();
  await declareTopology({ url }, smallTopology);
  return {
    url,
    async reject(...messages) {
      await using line = await openCommandPublisher({ url }, PATIENT_MS);
      const rejection = { kind: 'reject', reason: 'payload_invalid', detail: '/payload/id: must be integer' } as const;
      for (const each of messages) {
        const message = { queue: routerQueue, exchange: eventsExchange, deliveryCount: 0, failures: 0, ...each };
        const routingKey = each.routingKey ?? 'carrier.order.created';
        await line.publish(publishRejected({ ...message, routingKey }, rejection, wallClockMs()));
      }
    },
  };
}

/** An event of that action; right, unless its payload is not. */
export const anEvent = (payload: Record<string, unknown> = { id: 4711, status: 'new' }) => ({
  guid: randomUUID(),
  interface: 'carrier',
  action: 'order.created',
  occurred_at: '2026-11-20T09:30:00Z',
  parties: { carrier: randomUUID() },
  payload,
});
