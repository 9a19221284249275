import type { ClaimedRows } from '@waybell/line/claimed/claimed-rows';
import { publishDelivery, reportRejectedDelivery, type Delivery } from '@waybell/line/delivery';
import type { Routed } from '@waybell/line/outcomes';
import { keysOf } from '@waybell/events/keys';
import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';
import type { Log } from '@waybell/runtime/log';
import { makeNotification } from './make-notification.ts';
import type { ManualSending, Sendings } from './sendings.ts';

export type ByHandOptions = {
  sendings: Pick<Sendings, 'claim' | 'settle' | 'claimMs'>;
  write: WriteOutcomes;
  log: Pick<Log, 'info'>;
};

/** Publishes due manual sendings to the deliverers. One published again is the same attempt of the same delivery. */
export function byHand({ sendings, write, log }: ByHandOptions): ClaimedRows<ManualSending> {
  return {
    claimMs: sendings.claimMs,
    async claim() {
      const due = (await sendings.claim()).map(ready);
      // Writes the records that the router publishes for others: tests, and deliveries never sent, have none.
      const records = due.flatMap((each) => each.routed ?? []);
      if (records.length > 0) await write(records);
      return due.map(({ sending }) => sending);
    },
    async settle(sent) {
      await sendings.settle(sent);
      log.info({ sent: sent.length }, 'deliveries.sent-by-hand');
    },
    reportRejection: reportRejectedDelivery(Date.now),
    publicationOf: ({ body, ...sending }) =>
      body === null ? undefined : publishDelivery(deliveryOf({ ...sending, body })),
  };
}

/** The sending, and the record of its delivery if there is none yet. */
type Ready = { sending: ManualSending; routed?: Routed };

function ready(sending: ManualSending): Ready {
  if (sending.why === 'test') return { sending, routed: routedBy(sending, []) };
  if (sending.kept === null) return { sending };
  const made = makeNotification(sending, sending.kept);
  if (made === undefined) return { sending };
  const keys = keysOf(made.event.payload, made.event.action.keys, made.event.subject);
  return { sending: { ...sending, body: made.body }, routed: routedBy(sending, keys) };
}

/** Returns the same delivery at each publish, so that a repeat is recognised. Its age counts from when it was due. */
function deliveryOf(sending: ManualSending & { body: Buffer }): Delivery {
  const { why, fromAttempt, isRetried, dueAt } = sending;
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
    byHand: { why, fromAttempt, ...(isRetried && { isRetried }) },
    body: sending.body,
  };
}

/** The log has one record of an event and a time: of those sent at once, it is the same. */
function routedBy(sending: ManualSending, keys: Routed['keys']): Routed {
  const { event, action, account, subscriptions } = sending;
  return {
    kind: 'routed',
    event,
    interface: sending.interface,
    action,
    at: sending.dueAt,
    keys,
    receivers: [account],
    deliveries: subscriptions.map((subscription) => ({ subscription, account })),
    suppressed: [],
  };
}
