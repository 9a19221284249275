import { actionKey } from '@waybell/catalog/actions';
import { unpackedBytes } from '@waybell/events/read-event';
import type { Event } from '@waybell/events/event';
import { reportRejectedDelivery } from '@waybell/line/delivery';
import { publishRejectedAgain, KILLED } from '@waybell/line/hand-over/suspicion';
import { type Message, oneByOne, reject, type Death, type Handler, type Rejection } from '@waybell/line/messages';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import type { Step } from '@waybell/line/run-step';
import { deliveriesExchange, eventsExchange, routerQueue, straysQueue, isSuspectsQueue } from '@waybell/line/topology';
import { nearestKey, readRejectedEvent } from '@waybell/rejected/read-rejected-event';
import { reportRejectedEvent } from '@waybell/rejected/reject-event';
import type { Clock } from '@waybell/runtime/clock';
import type { Config } from './config.ts';
import { readArrival, repeatEvent, routeEvents, type Arrival, type RouteEventOptions } from './route-event.ts';

type RouteStepOptions = RouteEventOptions & {
  onRead?: (event: Event) => void;
  config: Pick<Config, 'inHandLimit' | 'eventLimits' | 'rememberMs'>;
};

/** The router's step. Recognises a repeated event by its action and guid, and a changed body by a hash. */
export function routeStep({ findSubscriptions, now, onRead, config }: RouteStepOptions): Step<Arrival> {
  return {
    name: 'event-router',
    queues: [routerQueue],
    inHandLimit: inHandLimitOf(config),
    parse: readArrival(config.eventLimits, onRead),
    reportRejection: reportRejectedEvent(config.eventLimits, now),
    handle: routeEvents({ findSubscriptions, now }),
    once: {
      keyOf: ({ event: { action, guid, fingerprint } }) => ({
        key: `event:${actionKey(action)}:${guid}`,
        fingerprint,
      }),
      ttlMs: config.rememberMs,
      onRepeat: (arrival, isSame) => repeatEvent(arrival, { isSame, at: now() }),
      // An event without a subscription may be fixed and published again.
      isWorthRemembering: (caused) =>
        caused.some((outgoing) => outgoing.kind === 'publish' && outgoing.exchange === deliveriesExchange),
    },
    describe: ({ event }) => ({ event: event.guid, action: event.action.name }),
    traces: 'begin',
  };
}

/** Weighs events by their decoded size. */
function inHandLimitOf({ inHandLimit, eventLimits }: RouteStepOptions['config']): InHandLimit {
  return { ...inHandLimit, weigh: (message) => unpackedBytes(message, eventLimits.maxBytes) };
}

type StrayStepOptions = Pick<RouteStepOptions, 'config' | 'now'> & { clock: Pick<Clock, 'sleep'> };

export function strayStep({ config, now, clock }: StrayStepOptions): Step<Message> {
  const { eventLimits } = config;
  const [reportEvent, reportDelivery] = [reportRejectedEvent(eventLimits, now), reportRejectedDelivery(now)];
  return {
    name: 'strays',
    queues: [straysQueue],
    inHandLimit: { messages: 10, bytes: 2 ** 20 },
    parse: (message) => message,
    handle: rejectStray({ ...eventLimits, clock }),
    // Unroutable retries stray too: no publisher gets a notice of them.
    reportRejection: (message, rejection) =>
      (message.exchange === eventsExchange ? reportEvent : reportDelivery)(message, rejection),
    describe: ({ messageId, routingKey }) => ({ messageId, routingKey }),
  };
}

/** Delay that keeps a policy which empties the rejected queue at once from occupying a process and the broker. */
const AGAIN_AFTER_MS = 1_000;

/**
 * Rejects a message that the broker could not keep on the line, with the reason; an operator then decides. Returns a message that
 * the broker moved out of the rejected queue, for example because of a policy, to that queue unchanged.
 */
export function rejectStray({
  maxBytes,
  clock,
}: { maxBytes: number } & Pick<StrayStepOptions, 'clock'>): Handler<Message> {
  return oneByOne(async (message) => {
    const { death, exchange, routingKey } = message;
    if (death === undefined) {
      // Waybell's own keys are not typed by hand.
      const hint = exchange === eventsExchange ? hintFor(message, maxBytes) : '';
      return reject('unroutable', `no queue takes key "${routingKey}" of exchange "${exchange}"${hint}`);
    }
    if (death.rejected !== undefined) {
      await clock.sleep(AGAIN_AFTER_MS);
      return [publishRejectedAgain(message, death.rejected)];
    }
    return rejectionOf(death);
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
