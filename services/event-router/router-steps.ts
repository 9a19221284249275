import type { Message } from '@waybell/line/messages';
import type { Step } from '@waybell/line/run-step';
import { reportRejectedDelivery } from '@waybell/line/delivery';
import { deliveriesExchange, eventsExchange, routerQueue, straysQueue } from '@waybell/line/topology';
import { actionKey } from '@waybell/catalog/actions';
import type { Event } from '@waybell/events/event';
import { unpackedBytes } from '@waybell/events/decode-body';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import { reportRejectedEvent } from '@waybell/rejected/reject-event';
import type { Config } from './config.ts';
import { rejectStray, type StrayOptions } from './reject-stray.ts';
import { readArrival, repeatEvent, routeEvents, type Arrival, type RouteEventOptions } from './route-event.ts';

export type RouteStepOptions = Pick<RouteEventOptions, 'findSubscriptions' | 'now'> & {
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

type StrayStepOptions = Pick<RouteStepOptions, 'config' | 'now'> & Pick<StrayOptions, 'clock'>;

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
