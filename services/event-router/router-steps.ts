import type { Message } from '@waybell/line/messages';
import type { Step } from '@waybell/line/run-step';
import { deliveriesExchange, routerQueue, straysQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';
import { nameStray } from './name-stray.ts';
import { readArrival, repeatEvent, routeEvent, type Arrival, type RouteOptions } from './route-event.ts';

export type RouteStepOptions = Pick<RouteOptions, 'findSubscriptions' | 'now'> & {
  config: Pick<Config, 'prefetch' | 'eventLimits' | 'passesTraceparent' | 'rememberMs'>;
};

/** The router's place on the line. An event is recognised again by its action and guid, and its body by a hash. */
export function routeStep({ findSubscriptions, now, config }: RouteStepOptions): Step<Arrival> {
  return {
    service: 'event-router',
    queues: [routerQueue],
    prefetch: config.prefetch,
    slots: config.prefetch,
    parse: readArrival(config.eventLimits),
    handle: routeEvent({ findSubscriptions, passesTraceparent: config.passesTraceparent, now }),
    once: {
      keyOf: ({ event: { action, guid, fingerprint } }) => ({
        key: `event:${action.interface}.${action.name}:${guid}`,
        fingerprint,
      }),
      ttlMs: config.rememberMs,
      onRepeat: (arrival, isSame) => repeatEvent(arrival, { isSame, at: now() }),
      // What reached nobody may come again, mended.
      isWorthRemembering: (caused) =>
        caused.some((outgoing) => outgoing.kind === 'publish' && outgoing.exchange === deliveriesExchange),
    },
    describe: ({ event }) => ({ event: event.guid, action: event.action.name }),
  };
}

export function strayStep(): Step<Message> {
  return {
    service: 'strays',
    queues: [straysQueue],
    prefetch: 10,
    slots: 10,
    parse: (message) => message,
    handle: nameStray,
    describe: ({ messageId, routingKey }) => ({ messageId, routingKey }),
  };
}
