import type { Action } from '@waybell/catalog/action';
import { actions } from '@waybell/catalog/actions';
import { connectRedis, type Redis } from '@waybell/runtime/redis';
import type { KeyRing } from '@waybell/runtime/secrets';
import { PATIENT_MS, silentLog } from '@waybell/runtime/testing/patience';
import type { Database } from '../database.ts';
import type { ListenerLimits } from '../listeners.ts';
import { awaitEnds } from '../rest/deliveries/await-ends.ts';
import { serveListeners, type ServeListenersOptions } from '../rest/listeners/relay.ts';
import { streamCapacity, type StreamLimits } from '../rest/live/event-stream.ts';
import { openLive } from '../rest/live/live.ts';

export type LiveSettings = Partial<StreamLimits & { knownAgainMs: number; until: AbortSignal }>;
export type ListenerTestSettings = Partial<ServeListenersOptions['listening'] & ListenerLimits>;

export type StreamsOptions = {
  database: Database;
  redis: Redis;
  redisUrl: string;
  keyRing: KeyRing;
  eventLimits: ServeListenersOptions['eventLimits'];
  catalog?: readonly Action[] | undefined;
  live?: LiveSettings | undefined;
  checkEveryMs: number;
  listeners?: ListenerTestSettings | undefined;
};

/** Limits that no test reaches unless it is about them. */
const manyStreams: StreamLimits = { streamsPerClient: 1_000, streams: 1_000 };
const manyListeners: ListenerLimits = { listenersPerClient: 1_000, listeners: 1_000 };
const patient = { lifeMs: PATIENT_MS, answerLimitMs: 2 * PATIENT_MS, waitingLimit: 100 };

/** The live feed, listeners, and what waits for ends. Disposed of, they end their streams. */
export function openStreams(options: StreamsOptions) {
  const {
    redisUrl,
    catalog = actions,
    live: given = {},
    listeners = {},
    checkEveryMs: pollEveryMs,
    ...common
  } = options;
  const { knownAgainMs, until, ...limits } = given;
  const ended = new AbortController();
  const capacity = streamCapacity({ ...manyStreams, ...limits }, until);
  const live = openLive({ ...common, pollEveryMs, catalog, capacity, log: silentLog });
  const awaiting = awaitEnds({ ...common, pollEveryMs, capacity, log: silentLog });
  const hearing = connectRedis({ url: redisUrl, timeoutMs: PATIENT_MS, log: silentLog });
  const listenerSettings = serveListeners({
    ...common,
    hearing,
    capacity,
    until: ended.signal,
    log: silentLog,
    listening: { ...patient, ...listeners },
    listenerLimits: { ...manyListeners, ...listeners },
  });
  return {
    routes: { live, awaiting, listenerSettings, ...(knownAgainMs !== undefined && { knownAgainMs }) },
    async [Symbol.asyncDispose]() {
      ended.abort();
      capacity[Symbol.dispose]();
      await live[Symbol.asyncDispose]();
      await awaiting[Symbol.asyncDispose]();
      await listenerSettings[Symbol.asyncDispose]();
      await hearing[Symbol.asyncDispose]();
    },
  };
}
