import type { EventLimits } from '@waybell/events/read-event';
import { largestNotification } from '@waybell/notifications/notification';
import type { Redis } from '@waybell/runtime/redis';
import { keepListeners, type ListenerLimits, type ListenerOptions } from '../../listeners.ts';
import { openChannels } from './channels.ts';
import { openListening, type ListeningOptions } from './listening.ts';
import type { ListenerSettings } from './listeners.ts';
import { openRelay, type ListenerRelayOptions } from './relay.ts';

export type ServeListenersOptions = Pick<ListenerOptions, 'database' | 'keyRing'> &
  Pick<ListeningOptions, 'room' | 'log'> &
  Pick<ListenerRelayOptions, 'redis' | 'until'> & {
    /** A connection of its own. */
    hearing: Redis;
    listenerLimits: ListenerLimits;
    listening: Pick<ListenerRelayOptions, 'waitingLimit' | 'answerLimitMs'> & { lifeMs: number };
    eventLimits: EventLimits;
  };

/** The parts that routes of listeners need. After disposal it renews no listener. */
export function serveListeners(options: ServeListenersOptions): ListenerSettings & AsyncDisposable {
  const { keyRing, eventLimits, listenerLimits: limits } = options;
  const { lifeMs, answerLimitMs } = options.listening;
  const listeners = keepListeners({ ...options, lifeMs, limits });
  const channels = openChannels(options);
  const relay = openRelay({ ...options, ...options.listening, channels });
  const listening = openListening({ ...options, listeners, relay, channels, lifeMs });
  return {
    listeners,
    listening,
    relay,
    keyRing,
    lifeMs,
    answerLimitMs,
    requestBytes: largestNotification(eventLimits.maxBytes),
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
