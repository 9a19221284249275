import { setTimeout as sleep } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { backoffMs } from '@waybell/runtime/backoff';
import { ApiProblem, type ClientApi } from '../client-api.ts';
import { forwardedCallback, forward, type ForwardedCallback } from './forward.ts';

/** The API's view of a listener. */
export type ListenerView = {
  guid: string;
  actions: string[];
  signing_secret: string;
  verification_token: string;
  life_ms: number;
  answer_limit_ms: number;
};

type ListenOptions = {
  api: ClientApi;
  to: URL;
  /** The request to the API, as JSON. */
  request: string;
  onBegun: (listener: ListenerView) => void;
  onForwarded: (callback: ForwardedCallback) => void;
  say: (line: string) => void;
  signal: AbortSignal;
};

type ListenSession = ListenOptions & {
  listener: ListenerView;
  /** Requests whose answers nobody waits for any more. */
  over: Set<string>;
  hasBegun: boolean;
  /** Since callbacks came last. */
  failures: number;
};

type StreamedRequest = { id: string; headers: Record<string, string>; body: string };

type ByteStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The API says something every 15 seconds. */
const SILENCE_MS = 45_000;
const BACKOFF = { firstMs: 500, longestMs: 10_000 };
const END_LIMIT_MS = 5_000;

/**
 * Forwards callbacks until the signal is given, and ends the listener then. A stream that is cut is opened again; a listener that
 * has ended meanwhile is followed by another. Throws where none can begin, or the token does not hold any more.
 */
export async function listen(options: ListenOptions): Promise<void> {
  const { api, request, say, signal } = options;
  while (!signal.aborted) {
    // The API returns an object of this form.
    const listener = (await api.ask('POST', '/v1/listeners', request)) as ListenerView;
    try {
      await follow(listener, options);
    } finally {
      await api
        .ask('DELETE', `/v1/listeners/${listener.guid}`, undefined, AbortSignal.timeout(END_LIMIT_MS))
        .catch((error: unknown) => {
          if (!hasEnded(error)) say(`its subscriptions end within ${listener.life_ms / 500} s: ${messageOf(error)}`);
        });
    }
    if (signal.aborted) return;
    say('the listener had ended: another one takes its place');
    await sleep(BACKOFF.firstMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Resolves once the listener has ended, or the signal is given. */
async function follow(listener: ListenerView, options: ListenOptions): Promise<void> {
  const { api, say, signal } = options;
  const session: ListenSession = { ...options, listener, over: new Set(), hasBegun: false, failures: 0 };
  while (!signal.aborted) {
    let reason = 'the API ended it';
    try {
      const stream = await api.stream(`/v1/listeners/${listener.guid}/requests`, signal);
      for await (const event of readEvents(stream, SILENCE_MS)) handleEvent(event, session);
    } catch (error) {
      if (hasEnded(error)) return;
      if (error instanceof ApiProblem && error.status < 429) throw error;
      reason = messageOf(error);
    }
    if (signal.aborted) return;
    session.failures += 1;
    const pauseMs = backoffMs(BACKOFF, session.failures);
    say(`the stream was cut (${reason}): trying again in ${pauseMs / 1_000} s`);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function handleEvent({ event, data }: EventSourceMessage, session: ListenSession): void {
  switch (event) {
    case 'listening':
      return nowListening(session);
    case 'request':
      return void answer(JSON.parse(data), session);
    case 'over':
      return void session.over.add(JSON.parse(data).id);
    default:
  }
}

function nowListening(session: ListenSession): void {
  const { onBegun, say, listener, hasBegun, failures } = session;
  if (!hasBegun) onBegun(listener);
  else if (failures > 0) say('connected again');
  session.hasBegun = true;
  session.failures = 0;
}

async function answer(
  { id, headers, body }: StreamedRequest,
  { api, to, listener, onForwarded, say, over }: ListenSession,
): Promise<void> {
  const callback = { headers, body: Buffer.from(body, 'base64') };
  const forwarded = await forward(callback, to, listener.answer_limit_ms);
  onForwarded(forwardedCallback(callback, to, forwarded, new Date()));
  const late = `the answer to ${headers['webhook-id']} came too late: its deliverer had given up`;
  if (over.delete(id)) return say(late);
  const reply = { request: id, status: Math.min(Math.max(200, forwarded.status), 599), body: forwarded.body };
  await api
    .ask('POST', `/v1/listeners/${listener.guid}/answers`, JSON.stringify(reply))
    .catch((error: unknown) => say(`the answer to ${headers['webhook-id']} could not be sent: ${messageOf(error)}`));
}

const hasEnded = (error: unknown): boolean => error instanceof ApiProblem && [404, 410].includes(error.status);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Yields the events of a stream. Throws if the stream is cut, or if nothing comes for this long, comments included. */
export async function* readEvents(stream: ByteStream, silenceMs: number): AsyncGenerator<EventSourceMessage> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const arrived: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => arrived.push(event) });
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), silenceMs);
      if (done) return;
      parser.feed(value);
      yield* arrived.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function withinSilence<T>(reading: Promise<T>, silenceMs: number): Promise<T> {
  const silent = Promise.withResolvers<never>();
  const timer = setTimeout(() => silent.reject(new Error(`nothing came for ${silenceMs / 1_000} s`)), silenceMs);
  try {
    return await Promise.race([reading, silent.promise]);
  } finally {
    clearTimeout(timer);
    reading.catch(() => undefined);
  }
}
