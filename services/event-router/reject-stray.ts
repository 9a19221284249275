import { publishRejectedAgain, KILLED } from '@waybell/line/hand-over/suspicion';
import { oneByOne, reject, type Death, type Handler, type Message, type Rejection } from '@waybell/line/messages';
import { eventsExchange, isSuspectsQueue } from '@waybell/line/topology';
import type { Clock } from '@waybell/runtime/clock';
import { nearestKey, readRejectedEvent } from '@waybell/rejected/read-rejected-event';

/** Delay that keeps a policy which empties the rejected queue at once from occupying a process and the broker. */
const AGAIN_AFTER_MS = 1_000;

export type StrayOptions = { maxBytes: number; clock: Pick<Clock, 'sleep'> };

/**
 * Rejects a message that the broker could not keep on the line, with the reason; an operator then decides. Returns a message that
 * the broker moved out of the rejected queue, for example because of a policy, to that queue unchanged.
 */
export function rejectStray({ maxBytes, clock }: StrayOptions): Handler<Message> {
  return oneByOne(async (message) => {
    const { death, exchange, routingKey } = message;
    if (death === undefined) {
      // Waybell's own keys are not typed by hand.
      const hint = exchange === eventsExchange ? hintFor(message, maxBytes) : '';
      return [reject('unroutable', `no queue takes key "${routingKey}" of exchange "${exchange}"${hint}`)];
    }
    if (death.rejected !== undefined) {
      await clock.sleep(AGAIN_AFTER_MS);
      return [publishRejectedAgain(message, death.rejected)];
    }
    return [rejectionOf(death)];
  });
}

function rejectionOf({ reason, queue, isOfPublisher }: Death): Rejection {
  if (isOfPublisher) return reject('expired', 'its publisher gave it an expiration: publish without one');
  if (reason === 'delivery_limit' && isSuspectsQueue(queue)) return KILLED;
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
