import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import type { Outgoing } from '@waybell/line/messages';
import type { Addressed, KeptEvent, Routed, Suppression } from '@waybell/line/outcomes';
import type { SuppressionReason } from '@waybell/line/reasons';
import { MOST_MEMBERS } from '@waybell/line/delivery-batch';
import type { Event } from '@waybell/events/event';
import { keysOf } from '@waybell/events/keys';
import type { ActiveSubscription, FoundSubscriptions } from './find-subscriptions.ts';
import { messageGuid } from '@waybell/notifications/message-guid';
import { notify } from '@waybell/notifications/notification';

/** The input of a fan-out: the event, its subscriptions, and the time of the decision. */
export type Routing = {
  event: Event;
  traceparent?: string;
  /** In the order of `event.receivers`. */
  found: FoundSubscriptions;
  published: PublishedEvent;
  at: number;
};

export type PublishedEvent = Omit<KeptEvent, 'accounts'>;

/** Limits of the deliveries, and bytes, of one event on their way to the broker at once. */
export const PART = { deliveries: 256, bytes: 2 ** 21 };
/** Approximate memory of a delivery without its body. */
export const DELIVERY_OVERHEAD_BYTES = 2_560;

/**
 * Yields the effects of an event in parts: one delivery for each subscription, and with the last ones a record of the deliveries
 * made and of the subscriptions that got nothing, with the reason. Bodies are made part by part.
 */
export function* fanOut({ event, traceparent, found, published, at }: Routing): Generator<Outgoing[], undefined> {
  const toDelivery = deliveryOf(event, at);
  const [deliveries, suppressed]: [Addressed[], Suppression[]] = [[], []];
  let part = new FanOutPart();
  for (const [place, account] of event.receivers.entries()) {
    const subscriptions = found[place] ?? [];
    if (subscriptions.length === 0) suppressed.push({ reason: 'no_subscription', account });
    for (const subscription of subscriptions) {
      const { guid, client } = subscription;
      const result = toDelivery(subscription);
      if ('reason' in result) {
        suppressed.push({ reason: result.reason, account, client, subscription: guid });
        continue;
      }
      if (part.isFull) {
        yield part.caused;
        part = new FanOutPart();
      }
      part.add(traceparent === undefined ? result : { ...result, traceparent });
      deliveries.push({ subscription: guid, account });
    }
  }
  const accounts = event.receivers.filter((_, place) => found[place] !== undefined);
  const kept = accounts.length === 0 ? undefined : { accounts, ...published };
  part.caused.push(routed(event, { at, deliveries, suppressed, ...(kept !== undefined && { kept }) }));
  yield part.caused;
}

class FanOutPart {
  readonly caused: Outgoing[] = [];
  #bytes = 0;
  #last: Buffer | undefined;

  get isFull(): boolean {
    return this.caused.length >= PART.deliveries || this.#bytes >= PART.bytes;
  }

  add(delivery: Delivery): void {
    const { body } = delivery;
    // Deliveries with the same body travel in a batch, which has the body once.
    this.#bytes += body === this.#last ? body.length / MOST_MEMBERS : body.length;
    this.#last = body;
    this.caused.push(publishDelivery(delivery));
  }
}

type Suppressed = { reason: SuppressionReason };

function deliveryOf(event: Event, createdAt: number): (subscription: ActiveSubscription) => Delivery | Suppressed {
  const announce = notify(event);
  return (subscription) => {
    if (!subscription.isFeatureOn) return { reason: 'feature_off' };
    const guid = messageGuid(event.guid, subscription.guid);
    const notification = announce({ auditFieldSet: subscription.auditFieldSet, messageGuid: guid });
    if (notification.kind === 'suppressed') return { reason: notification.reason };
    return {
      guid,
      interface: event.action.interface,
      action: event.action.name,
      subscription: subscription.guid,
      generation: subscription.generation,
      event: event.guid,
      attempt: 1,
      createdAt,
      beganAt: createdAt,
      body: notification.body,
    };
  };
}

/** Returns the record of an event's fate. */
export function routed(event: Event, became: Pick<Routed, 'at' | 'deliveries' | 'suppressed' | 'kept'>): Outgoing {
  return {
    kind: 'outcome',
    outcome: {
      kind: 'routed',
      event: event.guid,
      interface: event.action.interface,
      action: event.action.name,
      keys: keysOf(event.payload, event.action.keys, event.subject),
      receivers: event.receivers,
      ...became,
    },
  };
}
