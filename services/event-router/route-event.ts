import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import { reject, type Handler, type Message, type Outgoing, type Rejection } from '@waybell/line/messages';
import type { Suppression } from '@waybell/line/outcomes';
import type { Event } from './event.ts';
import type { FindSubscriptions, Subscription } from './find-subscriptions.ts';
import { messageGuid } from './message-guid.ts';
import { notify } from './notification.ts';
import { readEvent, type EventLimits } from './read-event.ts';

/** An event as it arrived: what upstream says, and the trace it says it in. */
export type Arrival = { event: Event; traceparent?: string };

/** Reads an event; one that breaks the contract is rejected, naming the place. */
export function readArrival(limits: EventLimits): (message: Message) => Arrival | Rejection {
  return (message) => {
    const reading = readEvent(message, limits);
    if (reading.kind === 'invalid') return reject(reading.reason, reading.detail);
    const { traceparent } = message;
    return { event: reading.event, ...(traceparent !== undefined && { traceparent }) };
  };
}

export type RouteOptions = {
  findSubscriptions: FindSubscriptions;
  /** Whether receivers get the trace of the platform. */
  passesTraceparent: boolean;
  now: () => number;
};

/**
 * One event becomes one delivery for each subscription of each account that receives it, and one record of what
 * became of it: the deliveries made, and who got nothing and why.
 */
export function routeEvent({ findSubscriptions, passesTraceparent, now }: RouteOptions): Handler<Arrival> {
  return async ({ event, traceparent }) => {
    const found = await Promise.all(event.receivers.map((account) => findSubscriptions(event.action, account)));
    const at = now();
    const deliveries: Delivery[] = [];
    const suppressed: Suppression[] = [];
    for (const subscription of found.flat()) {
      const result = deliveryFor(subscription, event, at);
      if ('reason' in result) suppressed.push(result);
      else deliveries.push(passesTraceparent && traceparent !== undefined ? { ...result, traceparent } : result);
    }
    if (found.flat().length === 0) suppressed.push({ reason: 'no_subscription' });
    return [...deliveries.map(publishDelivery), routed(event, { at, deliveries, suppressed })];
  };
}

/** What an event causes that was routed before: a record, or, if its guid came with another body, a rejection. */
export function repeatEvent({ event }: Arrival, { isSame, at }: { isSame: boolean; at: number }): Outgoing[] {
  if (!isSame) {
    return [
      reject(
        'guid_reused',
        'an event of this action with this guid, but with another body, was routed before: use a new guid',
      ),
    ];
  }
  return [routed(event, { at, deliveries: [], suppressed: [{ reason: 'duplicate' }] })];
}

function deliveryFor(subscription: Subscription, event: Event, createdAt: number): Delivery | Suppression {
  if (!subscription.isFeatureOn) return { reason: 'feature_off', subscription: subscription.guid };
  const guid = messageGuid(event.guid, subscription.guid);
  const notification = notify(event, { auditFieldSet: subscription.auditFieldSet, messageGuid: guid });
  if (notification.kind === 'suppressed') return { reason: notification.reason, subscription: subscription.guid };
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
}

function routed(event: Event, became: { at: number; deliveries: Delivery[]; suppressed: Suppression[] }): Outgoing {
  return {
    kind: 'outcome',
    outcome: {
      kind: 'routed',
      event: event.guid,
      interface: event.action.interface,
      action: event.action.name,
      at: became.at,
      deliveries: became.deliveries.map(({ guid, subscription }) => ({ delivery: guid, subscription })),
      suppressed: became.suppressed,
      unknownMembers: event.unknownMembers,
    },
  };
}
