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

type Door = Pick<Publication, 'exchange' | 'routingKey'>;

const actionKeys = new Set(actions.map(actionKey));

/**
 * The door by which a rejected message comes onto the line again; undefined where that cannot be told.
 *
 * | came by | goes back by |
 * |---|---|
 * | events | the same exchange and key |
 * | deliveries (parked ones too), retry, returns, waiting | deliveries, to be attempted now |
 * | outcomes, ends | the queue of the delivery log, that of the deactivator |
 * | strays (the broker gave it up) | deliveries or events, whichever it is made for |
 */
export function doorOf({ exchange, routingKey, type = '' }: RejectedMessage): Door | undefined {
  switch (exchange) {
    case eventsExchange:
      return { exchange, routingKey };
    case deliveriesExchange:
    case retryExchange:
    case returnsExchange:
    case waitingExchange:
      return deliveryDoor(type) ?? deliveryDoor(routingKey);
    case outcomesExchange:
      return { exchange: '', routingKey: logQueue };
    case endsExchange:
      return { exchange: '', routingKey: deactivatorQueue };
    case straysExchange:
      // Only deliveries have a type.
      return deliveryDoor(type) ?? (actionKeys.has(routingKey) ? { exchange: eventsExchange, routingKey } : undefined);
    default:
      return undefined;
  }
}

/** Whether it is an event, as upstream published it, however wrong it is. */
export function isEvent(rejected: RejectedMessage): boolean {
  const door = doorOf(rejected);
  if (door !== undefined) return door.exchange === eventsExchange;
  return rejected.exchange === straysExchange && rejected.type === undefined;
}

function deliveryDoor(key: string): Door | undefined {
  return actionKeys.has(key) ? { exchange: deliveriesExchange, routingKey: key } : undefined;
}
