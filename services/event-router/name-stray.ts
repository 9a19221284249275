import { reject, type Handler, type Message } from '@waybell/line/messages';

/** Names why the broker could not keep a message on the line, and rejects it: operators decide what becomes of it. */
export const nameStray: Handler<Message> = async (message) => {
  const { deadLetterReason, exchange, routingKey } = message;
  switch (deadLetterReason) {
    case undefined:
      return [reject('unroutable', `no queue takes key "${routingKey}" of exchange "${exchange}": a mistyped action?`)];
    case 'expired':
      return [reject('expired', 'its publisher gave it an expiration: publish without one')];
    case 'delivery_limit':
      return [reject('delivery_limit', 'it was taken and given back too often')];
    default:
      return [reject('dead_lettered', `the broker gave it up: ${deadLetterReason}`)];
  }
};
