import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import type { Publication } from '@waybell/line/messages';
import type { Routed } from '@waybell/line/outcomes';
import type { Sending, Sendings } from './sendings.ts';
import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';

export type SendOptions = {
  sendings: Pick<Sendings, 'claim' | 'settle'>;
  write: WriteOutcomes;
  /** Resolves when a queue has it. Rejects where the claim runs out first. */
  publish: (publication: Publication) => Promise<void>;
};

/**
 * Hands what is due by hand to the deliverers, and settles what a queue has. A process that dies in between leaves the claim:
 * it is published again, as the same attempt of the same delivery. Resolves with how many were claimed and how many settled.
 */
export async function sendDue({ sendings, write, publish }: SendOptions): Promise<{ due: number; sent: number }> {
  const due = await sendings.claim();
  // No event makes a test: what the log knows of a delivery from the router, it is told here; again, where a claim ran out.
  const tests = due.filter(({ why }) => why === 'test');
  if (tests.length > 0) await write(tests.map(routedBy), { isRepeat: true });
  const published = await Promise.allSettled(
    due.map(async (sending) => {
      const { body } = sending;
      if (body !== null) await publish(publishDelivery(deliveryOf({ ...sending, body })));
    }),
  );
  const done = due.filter((_, place) => published[place]?.status === 'fulfilled');
  if (done.length > 0) await sendings.settle(done);
  return { due: due.length, sent: done.length };
}

/** The same whenever it is published, so that a second one is recognised. It has its own time to grow too old. */
function deliveryOf(sending: Sending & { body: string }): Delivery {
  const { why, fromAttempt, dueAt } = sending;
  return {
    guid: sending.delivery,
    interface: sending.interface,
    action: sending.action,
    subscription: sending.subscription,
    generation: sending.generation,
    event: sending.event,
    attempt: fromAttempt,
    createdAt: dueAt,
    beganAt: dueAt,
    byHand: { why, fromAttempt },
    body: Buffer.from(sending.body),
  };
}

function routedBy(test: Sending): Routed {
  const { event, action, account, client, delivery, subscription } = test;
  return {
    kind: 'routed',
    event,
    interface: test.interface,
    action,
    at: test.dueAt,
    keys: [],
    receivers: [account],
    deliveries: [{ delivery, subscription, account, client }],
    suppressed: [],
    unknownMembers: 0,
  };
}
