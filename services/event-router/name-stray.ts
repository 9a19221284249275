import { actionKey, actions, reports } from '@waybell/catalog/actions';
import { nearestNames } from '@waybell/catalog/nearest-names';
import { reject, type Handler, type Message } from '@waybell/line/messages';
import { eventsExchange } from '@waybell/line/topology';

/** Names why the broker could not keep a message on the line, and rejects it: operators decide what becomes of it. */
export const nameStray: Handler<Message> = async (message) => {
  const { deadLetterReason, exchange, routingKey } = message;
  switch (deadLetterReason) {
    case undefined:
      return [reject('unroutable', `no queue takes key "${routingKey}" of exchange "${exchange}"${hint(message)}`)];
    case 'expired':
      return [reject('expired', 'its publisher gave it an expiration: publish without one')];
    case 'delivery_limit':
      return [reject('delivery_limit', 'it was taken and given back too often')];
    default:
      return [reject('dead_lettered', `the broker gave it up: ${deadLetterReason}`)];
  }
};

/** What the publisher of an event most likely meant. No person types our own keys. */
function hint({ exchange, routingKey }: Message): string {
  if (exchange !== eventsExchange) return '';
  const [nearest = ''] = nearestNames(routingKey, [...actions, ...reports].map(actionKey), 1);
  return `: a mistyped action? The nearest is ${nearest}`;
}
