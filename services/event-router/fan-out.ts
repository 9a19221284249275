import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import type { Outgoing } from '@waybell/line/messages';
import type { Addressed, KeptEvent, Routed, Suppression } from '@waybell/line/outcomes';
import type { SuppressionReason } from '@waybell/line/reasons';
import { MOST_MEMBERS } from '@waybell/line/delivery-batch';
import { actionKey } from '@waybell/catalog/actions';
import type { Event } from '@waybell/events/event';
import { keysOf } from '@waybell/events/keys';
import type { ActiveSubscription, FoundSubscriptions } from './find-subscriptions.ts';
import { messageGuid } from '@waybell/notifications/message-guid';
import { notify, type NotificationTarget, type Notification } from '@waybell/notifications/notification';

/** An event to route, and its trace. */
export type Routing = {
  event: Event;
  /** Returns the event as it was published, for these accounts. */
  keptFor: (accounts: readonly string[]) => KeptEvent;
  traceparent?: string;
};

/** Limits of the deliveries, and bytes, of one event on their way to the broker at once. */
export const PART = { deliveries: 256, bytes: 2 ** 21 };
/** Approximate memory of a delivery without its body. */
export const DELIVERY_OVERHEAD_BYTES = 2_560;

/**
 * The effects of an event in parts: one delivery for each subscription, and with the last ones a record of the deliveries made and
 * of the subscriptions that got nothing, with the reason. Bodies are made part by part.
 */
export class FanOut {
  readonly #routing: Routing;
  readonly #found: FoundSubscriptions;
  readonly #at: number;
  readonly #deliveries: Addressed[] = [];
  readonly #suppressed: Suppression[] = [];
  /** Indexes of the receiver and of its subscription that come next. */
  #place = 0;
  #next = 0;
  #announce: ((target: NotificationTarget) => Notification) | undefined;

  /** `found`: in the order of `event.receivers`. `at`: time of the decision. */
  constructor(routing: Routing, found: FoundSubscriptions, at: number) {
    this.#routing = routing;
    this.#found = found;
    this.#at = at;
  }

  /** Returns the next part; undefined after the last. */
  next(): Outgoing[] | undefined {
    const { receivers } = this.#routing.event;
    if (this.#place > receivers.length) return undefined;
    const caused: Outgoing[] = [];
    let bytes = 0;
    let last: Buffer | undefined;
    for (; this.#place < receivers.length; this.#place += 1, this.#next = 0) {
      const account = receivers[this.#place] ?? '';
      const subscriptions = this.#found[this.#place] ?? NONE;
      if (subscriptions.length === 0) this.#suppressed.push({ reason: 'no_subscription', account });
      for (; this.#next < subscriptions.length; this.#next += 1) {
        if (caused.length >= PART.deliveries || bytes >= PART.bytes) return caused;
        const subscription = subscriptions[this.#next];
        const delivery = subscription && this.#deliver(subscription, account);
        if (delivery === undefined) continue;
        const { body } = delivery;
        // Deliveries with the same body travel in a batch, which has the body once.
        bytes += body === last ? body.length / MOST_MEMBERS : body.length;
        last = body;
        caused.push(publishDelivery(delivery, actionKey(this.#routing.event.action)));
      }
    }
    this.#place += 1;
    caused.push(this.#record());
    return caused;
  }

  /** Returns the delivery to a subscription; undefined, with a note of the reason, if it gets none. */
  #deliver(subscription: ActiveSubscription, account: string): Delivery | undefined {
    const { event, traceparent } = this.#routing;
    const { guid, generation, auditFieldSet, isFeatureOn } = subscription;
    if (!isFeatureOn) return this.#suppress('feature_off', subscription, account);
    const message = messageGuid(event.guid, guid);
    this.#announce ??= notify(event);
    const notification = this.#announce({ auditFieldSet, messageGuid: message });
    if (notification.kind === 'suppressed') return this.#suppress(notification.reason, subscription, account);
    this.#deliveries.push({ subscription: guid, account });
    const delivery: Delivery = {
      guid: message,
      interface: event.action.interface,
      action: event.action.name,
      subscription: guid,
      generation,
      event: event.guid,
      attempt: 1,
      createdAt: this.#at,
      beganAt: this.#at,
      body: notification.body,
    };
    if (traceparent !== undefined) delivery.traceparent = traceparent;
    return delivery;
  }

  #suppress(reason: SuppressionReason, { client, guid: subscription }: ActiveSubscription, account: string): undefined {
    this.#suppressed.push({ reason, account, client, subscription });
  }

  #record(): Outgoing {
    const { event, keptFor } = this.#routing;
    const { receivers } = event;
    const found = this.#found;
    // Most events are for known accounts only.
    const known = found.includes(undefined) ? receivers.filter((_, place) => found[place] !== undefined) : receivers;
    const outcome = routed(event, { at: this.#at, deliveries: this.#deliveries, suppressed: this.#suppressed });
    if (known.length > 0) outcome.kept = keptFor(known);
    return { kind: 'outcome', outcome };
  }
}

const NONE: readonly ActiveSubscription[] = [];

/** Returns the record of an event's fate. */
export function routed(
  event: Event,
  { at, deliveries, suppressed }: Pick<Routed, 'at' | 'deliveries' | 'suppressed'>,
): Routed {
  return {
    kind: 'routed',
    event: event.guid,
    interface: event.action.interface,
    action: event.action.name,
    at,
    keys: keysOf(event.payload, event.action.keys, event.subject),
    receivers: event.receivers,
    deliveries,
    suppressed,
  };
}
