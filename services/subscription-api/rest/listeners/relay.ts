/**
 * Relays callbacks to listeners' streams, and their answers back, through channels of Redis: the process that a deliverer called and the
 * one that has the listener's stream may be two.
 *
 *     ask ── requests of the listener ──> stream of its program
 *     answer ── answers to the process ──> ask
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { EventLimits } from '@waybell/events/read-event';
import { largestNotification } from '@waybell/notifications/notification';
import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';
import { runEvery } from '@waybell/runtime/run-every';
import type { KeyRing } from '@waybell/runtime/secrets';
import { Unavailable } from '@waybell/runtime/unavailable';
import {
  keepListeners,
  type Listener,
  type ListenerLimits,
  type ListenerOptions,
  type Listeners,
} from '../../listeners.ts';
import { jsonBytesReader } from '../http/body.ts';
import { EventStream, type StreamCapacity, type StreamOwner } from '../live/event-stream.ts';

/** A callback as it came; `body` is base64. */
type RelayedRequest = { headers: Record<string, string>; body: string };

/** The answer of the program behind a listener. */
type RelayedAnswer = { status: number; body: string };

/** An event of a listener's stream: requests come from now on, a request, or its answer is no longer awaited. */
type Relayed =
  | { kind: 'listening' }
  | ({ kind: 'request'; id: string } & RelayedRequest)
  | { kind: 'over'; id: string };

/**
 * - `nobody`: no process has a stream of the listener.
 * - `unanswered`: nothing was answered within the limit, or for as long as the deliverer waits.
 * - `busy`: as many as may wait for an answer do.
 */
type RelayResult = { kind: 'answered'; answer: RelayedAnswer } | { kind: 'nobody' | 'unanswered' | 'busy' };

/** Between the process that a callback came to and the one that has its listener's stream, which may be another. */
export type ListenerRelay = {
  /** Throws Unavailable while Redis is away. */
  ask(listener: string, request: RelayedRequest, until: AbortSignal): Promise<RelayResult>;
  /** Resolves with whether the process that waits for it is there. Throws Unavailable while Redis is away. */
  answer(listener: string, id: string, answer: RelayedAnswer): Promise<boolean>;
  /** Passes on requests to a listener, until the returned function is called. */
  receive(listener: string, receiver: (relayed: Relayed) => void): () => void;
};

/** `begun`: messages arrive from now on; called again when the connection was away meanwhile. */
type ChannelReceiver = { heard: (text: string) => void; begun?: () => void };

type Channels = {
  /** Passes on messages of a channel, until the returned function is called. */
  receive(channel: string, receiver: ChannelReceiver): () => void;
  /** Throws if Redis hangs: a connection that only receives would not notice. */
  check(): Promise<void>;
};

export type ListenerRelayOptions = {
  redis: Pick<Redis, 'publish' | 'ping'>;
  channels: Channels;
  /** Per listener. */
  waitingLimit: number;
  answerLimitMs: number;
  /** Once it is given, nothing is waited for any more. */
  until: AbortSignal;
};

/** An answer on its way to the process that waits for it. */
type OnItsWay = { listener: string; id: string; answer: RelayedAnswer };

type AwaitedAnswer = { listener: string; end: (result: RelayResult) => void };

const REQUEST_ID = /^([0-9a-f-]{36})\.[0-9a-f-]{36}$/;

const requestsOf = (listener: string): string => `waybell:listener:${listener}`;
const answersTo = (process: string): string => `waybell:answers:${process}`;

export function openRelay({
  redis,
  channels,
  waitingLimit,
  answerLimitMs,
  until,
}: ListenerRelayOptions): ListenerRelay {
  const here = randomUUID();
  const awaited = new Map<string, AwaitedAnswer>();
  // Only this module publishes there.
  channels.receive(answersTo(here), { heard: (text) => pass(JSON.parse(text) as OnItsWay) });

  function pass({ listener, id, answer }: OnItsWay): void {
    const found = awaited.get(id);
    if (found?.listener === listener) found.end({ kind: 'answered', answer });
  }

  async function publish(channel: string, message: Relayed | OnItsWay): Promise<number> {
    try {
      return await redis.publish(channel, JSON.stringify(message));
    } catch (error) {
      throw new Unavailable('redis', () => redis.ping(), error);
    }
  }

  return {
    async ask(listener, request, gone) {
      const others = [...awaited.values()].filter((each) => each.listener === listener);
      if (others.length >= waitingLimit) return { kind: 'busy' };
      const id = `${here}.${randomUUID()}`;
      const { promise, resolve } = Promise.withResolvers<RelayResult>();
      awaited.set(id, { listener, end: resolve });
      const over = AbortSignal.any([gone, until]);
      const giveUp = () => resolve({ kind: 'unanswered' });
      over.addEventListener('abort', giveUp);
      const limit = setTimeout(giveUp, answerLimitMs);
      try {
        const heard = await publish(requestsOf(listener), { kind: 'request', id, ...request });
        if (heard === 0) return { kind: 'nobody' };
        if (over.aborted) giveUp();
        const result = await promise;
        if (result.kind === 'unanswered') await publish(requestsOf(listener), { kind: 'over', id }).catch(() => 0);
        return result;
      } finally {
        clearTimeout(limit);
        over.removeEventListener('abort', giveUp);
        awaited.delete(id);
      }
    },
    async answer(listener, id, answer) {
      const [, process] = REQUEST_ID.exec(id) ?? [];
      return process !== undefined && (await publish(answersTo(process), { listener, id, answer })) > 0;
    },
    receive: (listener, receiver) =>
      channels.receive(requestsOf(listener), {
        begun: () => receiver({ kind: 'listening' }),
        heard: (text) => receiver(JSON.parse(text) as Relayed),
      }),
  };
}

/**
 * Channels of Redis, on a connection that does nothing else. Messages are lost while that is away, and their publisher is
 * informed.
 */
export function openChannels({ hearing, log }: { hearing: Redis; log: Log }): Channels {
  const receivers = new Map<string, Set<ChannelReceiver>>();

  async function hear(channels: readonly string[]): Promise<void> {
    try {
      if (channels.length > 0) await hearing.subscribe(...channels);
      for (const channel of channels) receivers.get(channel)?.forEach(({ begun }) => begun?.());
    } catch (error) {
      log.warn({ reason: String(error) }, 'listeners.not-heard');
    }
  }

  hearing.on('ready', () => void hear([...receivers.keys()]));
  hearing.on('message', (channel, text) => receivers.get(channel)?.forEach(({ heard }) => heard(text)));
  return {
    receive(channel, receiver) {
      const others = receivers.get(channel) ?? new Set();
      receivers.set(channel, others.add(receiver));
      if (hearing.status === 'ready') void hear([channel]);
      return () => {
        others.delete(receiver);
        if (others.size > 0) return;
        receivers.delete(channel);
        void hearing.unsubscribe(channel).catch(() => undefined);
      };
    },
    check: async () => void (await hearing.ping()),
  };
}

export type ListeningOptions = {
  listeners: Listeners;
  relay: ListenerRelay;
  channels: Channels;
  capacity: StreamCapacity;
  lifeMs: number;
  log: Log;
};

/** The streams of listeners in this process. */
export type Listening = AsyncDisposable & {
  /** Begins one. Throws a Problem (429, 503) where there are too many. */
  open(listener: Listener, owner: StreamOwner, response: ServerResponse): EventStream;
};

/** Several requests, each of which may have an event's size. */
const BUFFER_BYTES = 2 ** 23;
/** Renewals within the life of a listener: one that fails does no harm. */
const TIMES_A_LIFE = 3;

/** Keeps the listeners alive that have a stream here, and ends those, of whichever process, that live no more. */
export function openListening({ listeners, relay, channels, capacity, lifeMs, log }: ListeningOptions): Listening {
  const open = new Map<EventStream, string>();

  async function keep(): Promise<void> {
    if (open.size > 0) {
      const streams = [...open];
      const alive = await listeners.keep([...new Set(open.values())]);
      for (const [stream, guid] of streams) if (!alive.includes(guid)) stream.end();
    }
    await listeners.sweep();
    if (open.size > 0) await channels.check();
  }

  const keeping = runEvery(keep, { intervalMs: lifeMs / TIMES_A_LIFE, warning: 'listeners.not-kept', log });
  return {
    open({ guid }, owner, response) {
      const stream = capacity.enter(owner, response, () => new EventStream({ response, bufferBytes: BUFFER_BYTES }));
      const leave = relay.receive(guid, (relayed) => stream.write(eventOf(stream, relayed)));
      open.set(stream, guid);
      response.once('close', () => {
        leave();
        open.delete(stream);
      });
      return stream;
    },
    [Symbol.asyncDispose]: () => keeping[Symbol.asyncDispose](),
  };
}

function eventOf(stream: EventStream, { kind, ...data }: Relayed): string {
  return stream.event(kind, JSON.stringify(data));
}

/** The services of operations of listeners. */
export type ListenerSettings = {
  listeners: Listeners;
  listening: Listening;
  relay: ListenerRelay;
  keyRing: KeyRing;
  lifeMs: number;
  answerLimitMs: number;
  /** Reads a callback: as large as the largest. */
  readRequest: ReturnType<typeof jsonBytesReader>;
};

export type ServeListenersOptions = Pick<ListenerOptions, 'database' | 'keyRing'> &
  Pick<ListeningOptions, 'capacity' | 'log'> &
  Pick<ListenerRelayOptions, 'redis' | 'until'> & {
    /** A connection for its messages alone. */
    hearing: Redis;
    listenerLimits: ListenerLimits;
    listening: Pick<ListenerRelayOptions, 'waitingLimit' | 'answerLimitMs'> & { lifeMs: number };
    eventLimits: EventLimits;
  };

/** Opens the services of listeners. After disposal it renews no listener. */
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
    readRequest: jsonBytesReader(largestNotification(eventLimits.maxBytes)),
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
