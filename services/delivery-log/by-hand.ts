import type { ClaimedRows } from '@waybell/line/claimed/claimed-rows';
import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import type { Routed } from '@waybell/line/outcomes';
import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';
import type { Log } from '@waybell/runtime/log';
import type { Sending, Sendings } from './sendings.ts';

export type ByHandOptions = {
  sendings: Pick<Sendings, 'claim' | 'settle' | 'claimMs'>;
  write: WriteOutcomes;
  log: Pick<Log, 'info'>;
};

/** What is due by hand, for the deliverers. Published again it is the same attempt of the same delivery. */
export function byHand({ sendings, write, log }: ByHandOptions): ClaimedRows<Sending> {
  return {
    claimMs: sendings.claimMs,
    async claim() {
      const due = await sendings.claim();
      // No event makes a test: what the log knows of a delivery from the router, it is told here; again, where a claim ran out.
      const tests = due.filter(({ why }) => why === 'test');
      if (tests.length > 0) await write(tests.map(routedBy), { isRepeat: true });
      return due;
    },
    async settle(sent) {
      await sendings.settle(sent);
      log.info({ sent: sent.length }, 'deliveries.sent-by-hand');
    },
    publicationOf: ({ body, ...sending }) =>
      body === null ? undefined : publishDelivery(deliveryOf({ ...sending, body })),
  };
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
