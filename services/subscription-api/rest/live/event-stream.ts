/** Streams of server-sent events: one stream, the capacity of a process for them, and their end with the token of their reader. */
import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Scope } from '../../tokens.ts';
import { requireScope, type Authenticate, type Caller } from '../authentication/authenticate.ts';
import { Problem } from '../http/problem.ts';

export type EventStreamOptions = {
  response: ServerResponse;
  /** A reader with more unread bytes than this is ended. */
  bufferBytes: number;
  /** The place from which a reader that comes back goes on, if that is read. */
  id?: () => string;
};

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2_000;

/** Server-sent events to one reader, until its connection is closed. */
export class EventStream {
  readonly #options: EventStreamOptions;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const { response } = options;
    response.statusCode = 200;
    response.setHeader('content-type', 'text/event-stream');
    // Some proxies would otherwise wait for more.
    response.setHeader('x-accel-buffering', 'no');
    this.write(`retry: ${RETRY_MS}\n${this.#id()}\n`);
    const heartbeat = setInterval(() => this.say('alive'), HEARTBEAT_MS);
    response.once('close', () => clearInterval(heartbeat));
  }

  /** Sends a comment, which clients ignore, and the id to go on from: a reader that got nothing for long, too, goes on near now. */
  say(comment: string): void {
    this.write(`: ${comment}\n${this.#id()}\n`);
  }

  /** An event as its text: `data` is one line. */
  event(name: string, data: string): string {
    return `event: ${name}\n${this.#id()}data: ${data}\n\n`;
  }

  write(text: string): void {
    const { response, bufferBytes } = this.#options;
    if (response.writableEnded || response.destroyed) return;
    if (response.writableLength > bufferBytes) response.destroy();
    else response.write(text);
  }

  end(): void {
    this.#options.response.end();
  }

  #id(): string {
    const { id } = this.#options;
    return id === undefined ? '' : `id: ${id()}\n`;
  }
}

/** How many streams may be open in this process: of one client of an account, and in all. */
export type StreamLimits = { streamsPerClient: number; streams: number };

type EndableStream = { end(): void };

/** The capacity of this process for streams, of whichever kind. Disposed of, it ends them. */
export type StreamCapacity = Disposable & {
  /** Opens one of a client's, until its response is closed. Throws a Problem (429, 503) where there are too many. */
  enter<Stream extends EndableStream>(owner: StreamOwner, response: ServerResponse, open: () => Stream): Stream;
};

export type StreamOwner = { account: string; client: string };

/** `until`: once it is given, streams end and no other begins. */
export function streamCapacity(limits: StreamLimits, until?: AbortSignal): StreamCapacity {
  const streams = new Map<EndableStream, string>();
  const disposed = new AbortController();
  const ended = until === undefined ? disposed.signal : AbortSignal.any([disposed.signal, until]);
  ended.addEventListener('abort', () => [...streams.keys()].forEach((stream) => stream.end()));
  return {
    enter({ account, client }, response, open) {
      if (ended.aborted) throw busy('This process is about to stop: ask again.');
      if (streams.size >= limits.streams) throw busy('There are as many streams as one process keeps open: ask later.');
      const key = JSON.stringify([account, client]);
      const others = [...streams.values()].filter((each) => each === key);
      if (others.length >= limits.streamsPerClient) throw tooMany(limits);
      const stream = open();
      streams.set(stream, key);
      response.once('close', () => streams.delete(stream));
      return stream;
    },
    [Symbol.dispose]: () => disposed.abort(),
  };
}

const RETRY_AFTER = { headers: { 'retry-after': '5' } };

const busy = (detail: string) => new Problem('unavailable', detail, RETRY_AFTER);

function tooMany({ streamsPerClient }: StreamLimits): Problem {
  const detail = `A client has ${streamsPerClient} streams at once: close one first.`;
  return new Problem('too-many-requests', detail, RETRY_AFTER);
}

export type KnowingAgain = {
  /** Knows a caller without counting a request. */
  knowAgain: Authenticate;
  knownAgainMs?: number;
};

/** The streams of a token that ends have ended within a minute, with time to spare for the check. */
const KNOWN_AGAIN_MS = 45_000;

type StreamReader = KnowingAgain & { request: Request; caller: Caller; scope: Scope };

/** Ends a stream once its token is not valid any more. While that cannot be known, it goes on. */
export function endWithToken(
  stream: { say(comment: string): void; end(): void },
  { request, caller, scope, knowAgain, knownAgainMs = KNOWN_AGAIN_MS }: StreamReader,
): void {
  const check = async () => {
    try {
      const now = await knowAgain(request);
      requireScope(now, scope);
      if (now.accountGuid === caller.accountGuid && now.clientId === caller.clientId) return;
    } catch (error) {
      if (!(error instanceof Problem)) return;
    }
    stream.say('the access token does not hold any more');
    stream.end();
  };
  const checking = setInterval(() => void check(), knownAgainMs);
  request.res?.once('close', () => clearInterval(checking));
}
