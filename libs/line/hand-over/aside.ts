import { asideHeaders } from '../aside-headers.ts';
import { publishAgain, type Death, type Message, type Publication, type Rejection } from '../messages.ts';
import { rejectedExchange, suspectsExchange } from '../topology.ts';

/** Publishes to the rejected queue: the original bytes, where they came from, the reason and the time. */
export function publishRejected(message: Message, { reason, detail }: Rejection, now: number): Publication {
  return publishRejectedAgain(message, { reason, detail, at: new Date(now).toISOString() });
}

/** Publishes back to the rejected queue, unchanged, a message that the broker moved out of it. */
export function publishRejectedAgain(
  message: Message,
  { reason, detail, at }: Required<Death>['rejected'],
): Publication {
  return aside(message, rejectedExchange, '', {
    [asideHeaders.reason]: reason,
    [asideHeaders.detail]: detail,
    [asideHeaders.at]: at,
  });
}

/** Publishes to the suspects lane of a step, where messages are taken one at a time. */
export function publishSuspect(message: Message, step: string, failures: number): Publication {
  return aside(message, suspectsExchange, step, { [asideHeaders.failures]: failures });
}

/** Publishes to the message's own queue; a delivery leaves in a batch of its own. */
export function publishAlone(message: Message): Publication {
  const same = publishAgain(message, message);
  return { ...same, headers: { [asideHeaders.cameBefore]: 1, ...same.headers } };
}

function aside(
  message: Message,
  exchange: string,
  routingKey: string,
  headers: Record<string, string | number>,
): Publication {
  const same = publishAgain(message, { exchange, routingKey });
  const origin = {
    [asideHeaders.queue]: message.queue,
    [asideHeaders.exchange]: message.exchange,
    [asideHeaders.routingKey]: message.routingKey,
    ...(message.userId !== undefined && { [asideHeaders.user]: message.userId }),
  };
  return { ...same, headers: { ...headers, ...origin, ...same.headers } };
}
