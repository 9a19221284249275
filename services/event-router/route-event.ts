import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import { reject, type Handler, type Message, type Outgoing, type Rejection } from '@waybell/line/messages';
import type { Addressed, Routed, Suppression, SuppressionReason } from '@waybell/line/outcomes';
import type { Event } from '@waybell/events/event';
import type { FindSubscriptions, Subscription } from './find-subscriptions.ts';
import { messageGuid } from './message-guid.ts';
import { notify } from './notification.ts';
import { readEvent, type EventLimits } from '@waybell/events/read-event';
import { subjectsOf } from '@waybell/events/subjects';

/** An event as it arrived: what upstream says, and the trace it says it in. */
export type Arrival = { event: Event; traceparent?: string };

// W3C Trace Context. With anything else in it no request could be made: receivers would be switched off for it.
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** Reads an event; one that breaks the contract is rejected, naming the place. A trace that is none is left out. */
export function readArrival(limits: EventLimits): (message: Message) => Arrival | Rejection {
  return (message) => {
    const reading = readEvent(message, limits);
    if (reading.kind === 'invalid') return reject(reading.reason, reading.detail);
    const { traceparent = '' } = message;
    return { event: reading.event, ...(TRACEPARENT.test(traceparent) && { traceparent }) };
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
    const asked = event.receivers.map((account) => findSubscriptions(event.action, account));
    // One account is the rule.
    const found = asked.length === 1 ? [await asked[0]] : await Promise.all(asked);
    const at = now();
    const toDelivery = deliveryOf(event, at);
    const caused: Outgoing[] = [];
    const deliveries: Addressed[] = [];
    const suppressed: Suppression[] = [];
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
        caused.push(
          publishDelivery(passesTraceparent && traceparent !== undefined ? { ...result, traceparent } : result),
        );
        deliveries.push({ delivery: result.guid, subscription: guid, account, client });
      }
    }
    caused.push(routed(event, { at, deliveries, suppressed }));
    return caused;
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

type Suppressed = { reason: SuppressionReason };

function deliveryOf(event: Event, createdAt: number): (subscription: Subscription) => Delivery | Suppressed {
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

function routed(event: Event, became: Pick<Routed, 'at' | 'deliveries' | 'suppressed'>): Outgoing {
  return {
    kind: 'outcome',
    outcome: {
      kind: 'routed',
      event: event.guid,
      interface: event.action.interface,
      action: event.action.name,
      subjects: subjectsOf(event.payload),
      receivers: event.receivers,
      ...became,
      unknownMembers: event.unknownMembers,
    },
  };
}
