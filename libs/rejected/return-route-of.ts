import { actionKey, actions } from '@waybell/catalog/actions';
import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import type { Publication } from '@waybell/line/messages';
import {
  deactivatorQueue,
  deliveriesExchange,
  endsExchange,
  eventsExchange,
  logQueue,
  outcomesExchange,
  retryExchange,
  returnsExchange,
  straysExchange,
  waitingExchange,
} from '@waybell/line/topology';

type ReturnRoute = Pick<Publication, 'exchange' | 'routingKey'>;

const actionKeys = new Set(actions.map(actionKey));
/** Queues that a message goes back to by name, past the exchange. */
const SENT_BACK_TO = new Set([logQueue, deactivatorQueue]);

/**
 * The exchange and routing key that bring a rejected message back onto the line; undefined where that cannot be told.
 *
 * | came by | goes back by |
 * |---|---|
 * | events | the same exchange and key |
 * | deliveries (those that waited, too), retry, returns, waiting | deliveries, to be attempted now |
 * | outcomes, ends | the queue of the delivery log, that of the deactivator |
 * | the name of one of these queues (it was sent back before) | the same queue |
 * | strays (the broker gave it up) | deliveries or events, whichever it is made for |
 */
export function returnRouteOf({ exchange, routingKey, type = '' }: RejectedMessage): ReturnRoute | undefined {
  switch (exchange) {
    case eventsExchange:
      return { exchange, routingKey };
    case deliveriesExchange:
    case retryExchange:
    case returnsExchange:
    case waitingExchange:
      return deliveryRoute(type) ?? deliveryRoute(routingKey);
    case outcomesExchange:
      return { exchange: '', routingKey: logQueue };
    case endsExchange:
      return { exchange: '', routingKey: deactivatorQueue };
    case '':
      return SENT_BACK_TO.has(routingKey) ? { exchange, routingKey } : undefined;
    case straysExchange:
      // Only deliveries have a type.
      return deliveryRoute(type) ?? (actionKeys.has(routingKey) ? { exchange: eventsExchange, routingKey } : undefined);
    default:
      return undefined;
  }
}

/** Whether it is an event as upstream published it, however faulty. */
export function isEvent(rejected: RejectedMessage): boolean {
  const route = returnRouteOf(rejected);
  if (route !== undefined) return route.exchange === eventsExchange;
  return rejected.exchange === straysExchange && rejected.type === undefined;
}

function deliveryRoute(key: string): ReturnRoute | undefined {
  return actionKeys.has(key) ? { exchange: deliveriesExchange, routingKey: key } : undefined;
}
