import { reject, type Handler, type Message } from '@waybell/line/messages';
import { eventsExchange } from '@waybell/line/topology';
import { nearestKey, readRejectedEvent } from '@waybell/rejected/read-rejected-event';

/** Names why the broker could not keep a message on the line, and rejects it: operators decide what becomes of it. */
export function nameStray({ maxBytes }: { maxBytes: number }): Handler<Message> {
  return async (message) => {
    const { deadLetterReason, exchange, routingKey } = message;
    switch (deadLetterReason) {
      case undefined: {
        // Our own keys are not typed by hand.
        const hint = exchange === eventsExchange ? hintFor(message, maxBytes) : '';
        return [reject('unroutable', `no queue takes key "${routingKey}" of exchange "${exchange}"${hint}`)];
      }
      case 'expired':
        return [reject('expired', 'its publisher gave it an expiration: publish without one')];
      case 'delivery_limit':
        return [reject('delivery_limit', 'it was taken and given back too often')];
      default:
        return [reject('dead_lettered', `the broker gave it up: ${deadLetterReason}`)];
    }
  };
}

function hintFor(message: Message, maxBytes: number): string {
  return `: a mistyped action? The nearest is ${nearestKey(readRejectedEvent(message, maxBytes))}`;
}
