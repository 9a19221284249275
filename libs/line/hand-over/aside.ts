import { asideHeaders } from '../broker/amqp-message.ts';
import type { Message, Publication, Rejection } from '../messages.ts';
import { quarantineKey, rejectedExchange, suspectsExchange } from '../topology.ts';

/** To the rejected queue: the original bytes, whence they came, the reason and the time. */
export function publishRejected(message: Message, { reason, detail }: Rejection, now: number): Publication {
  return aside(message, rejectedExchange, '', {
    [asideHeaders.reason]: reason,
    [asideHeaders.detail]: detail,
    [asideHeaders.at]: new Date(now).toISOString(),
  });
}

/** To the suspects lane of a service, where messages are taken one at a time. */
export function publishSuspect(message: Message, service: string, failures: number): Publication {
  return aside(message, suspectsExchange, service, { [asideHeaders.failures]: failures });
}

/** To the quarantine of a service, where a message is handled with nothing else in hand. */
export function publishQuarantined(message: Message, service: string): Publication {
  return aside(message, suspectsExchange, quarantineKey(service), { [asideHeaders.failures]: message.failures });
}

/** To its own queue, by itself. */
export function publishAlone(message: Message): Publication {
  const { exchange, routingKey, traceparent } = message;
  const headers = { [asideHeaders.cameBefore]: 1, ...(traceparent !== undefined && { traceparent }) };
  return { ...copied(message), exchange, routingKey, headers };
}

function aside(
  message: Message,
  exchange: string,
  routingKey: string,
  headers: Record<string, string | number>,
): Publication {
  const { traceparent, userId } = message;
  return {
    ...copied(message),
    exchange,
    routingKey,
    headers: {
      ...headers,
      [asideHeaders.queue]: message.queue,
      [asideHeaders.exchange]: message.exchange,
      [asideHeaders.routingKey]: message.routingKey,
      ...(userId !== undefined && { [asideHeaders.user]: userId }),
      ...(traceparent !== undefined && { traceparent }),
    },
  };
}

function copied(message: Message): Omit<Publication, 'exchange' | 'routingKey'> {
  const { body, messageId, type, note, contentType, contentEncoding } = message;
  return {
    kind: 'publish',
    body,
    ...(messageId !== undefined && { messageId }),
    ...(type !== undefined && { type }),
    ...(note !== undefined && { note }),
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
  };
}
