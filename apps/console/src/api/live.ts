import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream';
import type { ApiClient } from './create-api.ts';
import { ProblemAnswer, problemOf, unreachable } from './problem.ts';

export type LiveMessage = Pick<EventSourceMessage, 'event' | 'data'>;

/** How a feed stands: its messages come; or it is tried again, because of what went wrong. */
export type LiveState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'broken'; error: ProblemAnswer; isOver: boolean };

type Follow = {
  api: ApiClient;
  signal: AbortSignal;
  onMessage: (message: LiveMessage) => void;
  onState: (state: LiveState) => void;
};

const RECONNECT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/**
 * Follows what happens now until the signal is given. A connection that breaks goes on where it was (`Last-Event-ID`); what
 * would be refused again is not asked again. A browser's own EventSource cannot send a token but in the address.
 */
export async function followLive({ api, signal, onMessage, onState }: Follow): Promise<void> {
  let lastId = '';
  for (let failures = 0; !signal.aborted; failures += 1) {
    onState({ kind: 'connecting' });
    try {
      const stream = await opened(api, lastId, signal);
      onState({ kind: 'live' });
      for await (const message of stream) {
        if (message.id !== undefined) lastId = message.id;
        failures = 0;
        onMessage(message);
      }
      // A server that ends it well may do so each time.
      await pause(RECONNECT_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof ProblemAnswer ? error : unreachable();
      onState({ kind: 'broken', error: problem, isOver: !problem.isPassing });
      if (!problem.isPassing) return;
      await pause(problem.retryAfterMs ?? Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** failures), signal);
    }
  }
}

async function opened(
  api: ApiClient,
  lastId: string,
  signal: AbortSignal,
): Promise<ReadableStream<EventSourceMessage>> {
  const headers = { authorization: `Bearer ${await api.token()}`, ...(lastId !== '' && { 'last-event-id': lastId }) };
  const response = await fetch(api.url('/v1/live'), { headers, signal });
  if (!response.ok) throw problemOf(response, await response.json().catch(() => undefined));
  if (response.body === null) throw unreachable();
  return response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
