import { randomUUID } from 'node:crypto';
import type { Redis } from '@waybell/runtime/redis';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Log } from '@waybell/runtime/log';
import type { ServerResponse } from 'node:http';
import { runEvery } from '@waybell/runtime/run-every';
import type { Listener, Listeners } from '../../listeners.ts';
import { EventStream, type StreamCapacity, type WhoseStream } from '../live/event-stream.ts';

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
  take(listener: string, take: (relayed: Relayed) => void): () => void;
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

type WaitingCallback = { listener: string; settle: (asked: RelayResult) => void };

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
  const waiting = new Map<string, WaitingCallback>();
  // Only this module publishes there.
  channels.take(answersTo(here), { heard: (text) => settle(JSON.parse(text) as OnItsWay) });

  function settle({ listener, id, answer }: OnItsWay): void {
    const found = waiting.get(id);
    if (found?.listener === listener) found.settle({ kind: 'answered', answer });
  }

  async function say(channel: string, what: Relayed | OnItsWay): Promise<number> {
    try {
      return await redis.publish(channel, JSON.stringify(what));
    } catch (error) {
      throw new Unavailable('redis', () => redis.ping(), error);
    }
  }

  return {
    async ask(listener, request, gone) {
      const others = [...waiting.values()].filter((each) => each.listener === listener);
      if (others.length >= waitingLimit) return { kind: 'busy' };
      const id = `${here}.${randomUUID()}`;
      const { promise, resolve } = Promise.withResolvers<RelayResult>();
      waiting.set(id, { listener, settle: resolve });
      const over = AbortSignal.any([gone, until]);
      const giveUp = () => resolve({ kind: 'unanswered' });
      over.addEventListener('abort', giveUp);
      const limit = setTimeout(giveUp, answerLimitMs);
      try {
        const heard = await say(requestsOf(listener), { kind: 'request', id, ...request });
        if (heard === 0) return { kind: 'nobody' };
        if (over.aborted) giveUp();
        const asked = await promise;
        if (asked.kind === 'unanswered') await say(requestsOf(listener), { kind: 'over', id }).catch(() => 0);
        return asked;
      } finally {
        clearTimeout(limit);
        over.removeEventListener('abort', giveUp);
        waiting.delete(id);
      }
    },
    async answer(listener, id, answer) {
      const [, process] = REQUEST_ID.exec(id) ?? [];
      return process !== undefined && (await say(answersTo(process), { listener, id, answer })) > 0;
    },
    take: (listener, take) =>
      channels.take(requestsOf(listener), {
        begun: () => take({ kind: 'listening' }),
        heard: (text) => take(JSON.parse(text) as Relayed),
      }),
  };
}

/** `begun`: messages arrive from now on; called again when the connection was away meanwhile. */
type Taker = { heard: (text: string) => void; begun?: () => void };

type Channels = {
  /** Passes on messages of a channel, until the returned function is called. */
  take(channel: string, taker: Taker): () => void;
  /** Finds out that Redis hangs: a connection that only hears would not. */
  look(): Promise<void>;
};

/**
 * Channels of Redis, on a connection that does nothing else. Messages are lost while that is away, and their publisher is
 * informed.
 */
export function openChannels({ hearing, log }: { hearing: Redis; log: Log }): Channels {
  const takers = new Map<string, Set<Taker>>();

  async function hear(channels: readonly string[]): Promise<void> {
    try {
      if (channels.length > 0) await hearing.subscribe(...channels);
      for (const channel of channels) takers.get(channel)?.forEach(({ begun }) => begun?.());
    } catch (error) {
      log.warn({ reason: String(error) }, 'listeners.not-heard');
    }
  }

  hearing.on('ready', () => void hear([...takers.keys()]));
  hearing.on('message', (channel, text) => takers.get(channel)?.forEach(({ heard }) => heard(text)));
  return {
    take(channel, taker) {
      const others = takers.get(channel) ?? new Set();
      takers.set(channel, others.add(taker));
      if (hearing.status === 'ready') void hear([channel]);
      return () => {
        others.delete(taker);
        if (others.size > 0) return;
        takers.delete(channel);
        void hearing.unsubscribe(channel).catch(() => undefined);
      };
    },
    look: async () => void (await hearing.ping()),
  };
}

export type ListeningOptions = {
  listeners: Listeners;
  relay: ListenerRelay;
  channels: Channels;
  room: StreamCapacity;
  lifeMs: number;
  log: Log;
};

/** The streams of listeners in this process. */
export type Listening = AsyncDisposable & {
  /** Begins one. Throws a Problem (429, 503) where there are too many. */
  open(listener: Listener, whose: WhoseStream, response: ServerResponse): EventStream;
};

/** Several requests, each of which may have an event's size. */
const BUFFER_BYTES = 2 ** 23;
/** Renewals within the life of a listener: one that fails does no harm. */
const TIMES_A_LIFE = 3;

/** Keeps the listeners alive that have a stream here, and ends those, of whichever process, that live no more. */
export function openListening({ listeners, relay, channels, room, lifeMs, log }: ListeningOptions): Listening {
  const open = new Map<EventStream, string>();

  async function keep(): Promise<void> {
    if (open.size > 0) {
      const streams = [...open];
      const alive = await listeners.keep([...new Set(open.values())]);
      for (const [stream, guid] of streams) if (!alive.includes(guid)) stream.end();
    }
    await listeners.sweep();
    if (open.size > 0) await channels.look();
  }

  const keeping = runEvery(keep, { intervalMs: lifeMs / TIMES_A_LIFE, warning: 'listeners.not-kept', log });
  return {
    open({ guid }, whose, response) {
      const stream = room.enter(whose, response, () => new EventStream({ response, bufferBytes: BUFFER_BYTES }));
      const leave = relay.take(guid, (relayed) => stream.write(eventOf(stream, relayed)));
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
