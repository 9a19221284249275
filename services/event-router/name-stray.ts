import { publishRejectedAgain } from '@waybell/line/hand-over/aside';
import { reject, type Death, type Handler, type Message, type Rejection } from '@waybell/line/messages';
import { eventsExchange } from '@waybell/line/topology';
import type { Clock } from '@waybell/runtime/clock';
import { nearestKey, readRejectedEvent } from '@waybell/rejected/read-rejected-event';

/** A policy that empties the rejected queue at once is not to keep a process, and the broker, busy with nothing else. */
const AGAIN_AFTER_MS = 1_000;

export type StrayOptions = { maxBytes: number; clock: Pick<Clock, 'sleep'> };

/**
 * Names why the broker could not keep a message on the line, and rejects it: operators decide what becomes of it. What the broker
 * moved out of the rejected queue, as by a policy, goes back there as it was.
 */
export function nameStray({ maxBytes, clock }: StrayOptions): Handler<Message> {
  return async (message) => {
    const { death, exchange, routingKey } = message;
    if (death === undefined) {
      // Our own keys are not typed by hand.
      const hint = exchange === eventsExchange ? hintFor(message, maxBytes) : '';
      return [reject('unroutable', `no queue takes key "${routingKey}" of exchange "${exchange}"${hint}`)];
    }
    if (death.rejected !== undefined) {
      await clock.sleep(AGAIN_AFTER_MS);
      return [publishRejectedAgain(message, death.rejected)];
    }
    return [rejectionOf(death)];
  };
}

function rejectionOf({ reason, queue, isOfPublisher }: Death): Rejection {
  if (isOfPublisher) return reject('expired', 'its publisher gave it an expiration: publish without one');
  if (reason === 'delivery_limit') return reject('delivery_limit', 'it was taken and given back too often');
  const moved = `RabbitMQ moved it out of ${queue} (${reason})`;
  return reject(
    'dead_lettered',
    `${moved}: a policy does that; "./waybell status" names it, or "rabbitmqctl list_policies"`,
  );
}

function hintFor(message: Message, maxBytes: number): string {
  return `: a mistyped action? The nearest is ${nearestKey(readRejectedEvent(message, maxBytes))}`;
}
