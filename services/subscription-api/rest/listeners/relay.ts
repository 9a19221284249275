import { randomUUID } from 'node:crypto';
import type { Redis } from '@waybell/runtime/redis';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Channels } from './channels.ts';

/** A callback as it came; `body` is base64. */
export type RelayedRequest = { headers: Record<string, string>; body: string };

/** The answer of the program behind a listener. */
export type RelayedAnswer = { status: number; body: string };

/** An event of a listener's stream: requests come from now on, a request, or its answer is no longer awaited. */
export type Relayed =
  | { kind: 'listening' }
  | ({ kind: 'request'; id: string } & RelayedRequest)
  | { kind: 'over'; id: string };

/**
 * - `nobody`: no process has a stream of the listener.
 * - `unanswered`: nothing was answered within the limit, or for as long as the deliverer waits.
 * - `busy`: as many as may wait for an answer do.
 */
export type RelayResult = { kind: 'answered'; answer: RelayedAnswer } | { kind: 'nobody' | 'unanswered' | 'busy' };

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
