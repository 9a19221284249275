import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream';
import type { ApiClient } from './create-api.ts';
import { ProblemAnswer, problemOf, unreachable } from './problem.ts';

export type LiveMessage = Pick<EventSourceMessage, 'event' | 'data'>;

/** The state of a feed. `isOver`: it is not connected again, as it would be refused again. */
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
 * Follows the feed until the signal is aborted. A connection that breaks is made again and continues after the last message
 * (`Last-Event-ID`), unless it would be refused again. The browser's own EventSource can send a token in the address only.
 *
 *   connecting ─► live ─► connecting …        the connection ends, after a pause
 *        └──────────┴───► broken ─► connecting …   it fails; the pauses grow, or last as long as the API says
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
      // A server that ends it in order may do so each time.
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
