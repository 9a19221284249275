import { openPublisher, type BrokerPublisher } from '@waybell/line/broker/publisher';
import { eventsExchange } from '@waybell/line/topology';
import { Budget } from '@waybell/runtime/budget';
import { systemClock, withTimeout } from '@waybell/runtime/clock';
import { NotConfirmed } from './publish-errors.ts';
import { checkedUrl, checkNumbers, checkTexts, guardedLog, type PublisherOptions } from './publisher-options.ts';
import { Resending } from './resending.ts';
import { writeEvent, type EventInput, type WrittenEvent } from './write-event.ts';

export interface PublishOptions {
  /** When given, `publish` waits no longer and rejects with `NotConfirmed`. */
  signal?: AbortSignal | undefined;
}

/** Figures for metrics. */
export interface PublisherFigures {
  /** Sent, or waiting to be sent again, and not confirmed. */
  unconfirmed: number;
  /** Since the start. */
  confirmed: number;
  /** How often an event was sent again, since the start. */
  resent: number;
}

export interface Publisher {
  /**
   * Resolves, with the guid, when the broker has confirmed the event; until then it is sent again with the same guid and
   * bytes. Throws `InvalidEvent` where it breaks the contract. Await it: it waits for capacity.
   */
  publish(event: EventInput, options?: PublishOptions): Promise<{ guid: string }>;
  /** The same for an event that is written already. */
  send(event: WrittenEvent, options?: PublishOptions): Promise<void>;
  /** Resolves when the broker takes events: connected, the exchange there, no alarm. Rejects when it is closed. */
  ready(options?: PublishOptions): Promise<void>;
  /** Why it cannot publish now, in words; undefined while it can. */
  trouble(): string | undefined;
  figures(): PublisherFigures;
  /**
   * Accepts no more events, waits for confirms for this long (10,000 ms), and resolves with the guids that were not confirmed.
   * Closes once: later calls return the same promise.
   */
  close(options?: { withinMs?: number | undefined }): Promise<{ unconfirmed: string[] }>;
}

/** Few messages are under way at once: others wait in the publisher, not in the socket. */
const UNDER_WAY = { messages: 1_000, bytes: 8 * 2 ** 20 };
const CLOSE_LIMIT_MS = 10_000;
/** Messages that explain why there is no working connection. */
const WARNINGS = new Set(['broker.connect-failed', 'broker.disconnected', 'broker.blocked']);

const CLOSED = 'the publisher is closed';

/** Connects in the background, and again whenever the connection is lost. Throws where an option is none. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { tls, userId, name = 'publisher', heartbeatSeconds = 10, confirmTimeoutMs = 30_000 } = options;
  const { bufferBytes = 32 * 2 ** 20 } = options;
  const url = checkedUrl(options.url);
  checkTexts({ name, userId });
  checkNumbers({ heartbeatSeconds, confirmTimeoutMs, bufferBytes });
  const log = guardedLog(options.log);
  /** The connection's last warning. */
  let warning = 'it is not connected yet';
  const line = openPublisher({
    url,
    ...(tls !== undefined && { tls }),
    name,
    heartbeatSeconds,
    confirmTimeoutMs,
    unconfirmedLimit: UNDER_WAY.messages,
    unconfirmedBytesLimit: UNDER_WAY.bytes,
    exchanges: [eventsExchange],
    log: {
      info: (facts, message) => log.info(facts, message),
      warn(facts, message) {
        if (WARNINGS.has(message) && 'reason' in facts) warning = String(facts.reason);
        log.warn(facts, message);
      },
    },
    clock: systemClock,
  });
  let closed: ReturnType<Publisher['close']> | undefined;
  const trouble = () => (line.state() === 'writable' ? undefined : troubleIn(line.state(), warning));
  const resending = new Resending({ line, budget: new Budget(bufferBytes), trouble, userId });
  const closing = new AbortController();
  const untilWritable = writableOf(line, closing.signal);
  const close = async (withinMs: number) => {
    closing.abort(new Error(CLOSED));
    await withTimeout({ clock: systemClock, limitMs: withinMs }, resending.ended());
    const unconfirmed = resending.giveUpAll();
    await line[Symbol.asyncDispose]();
    return { unconfirmed };
  };

  const send: Publisher['send'] = async (event, { signal } = {}) => {
    if (closed !== undefined) throw new NotConfirmed(event.guid, CLOSED);
    await resending.send(event, signal);
  };
  return {
    send,
    async publish(event, publishOptions) {
      const written = writeEvent(event);
      await send(written, publishOptions);
      return { guid: written.guid };
    },
    async ready({ signal } = {}) {
      await untilWritable(signal);
    },
    trouble: () => (closed === undefined ? (trouble() ?? resending.trouble) : CLOSED),
    figures: () => ({
      unconfirmed: resending.unconfirmed,
      confirmed: resending.confirmed,
      resent: resending.resent,
    }),
    close: ({ withinMs = CLOSE_LIMIT_MS } = {}) => (closed ??= close(withinMs)),
  };
}

const troubleIn = (state: ReturnType<BrokerPublisher['state']>, warning: string): string =>
  state === 'blocked' ? `the broker takes nothing for now: ${warning}` : warning;

/**
 * Waits until the line is writable, or rejects when either signal is given. A caller may wait in each round of a loop, with one signal
 * for weeks: nothing is made that stays with it, such as a composite signal, which Node 20 and 22 keep.
 */
function writableOf(line: BrokerPublisher, closing: AbortSignal): (signal?: AbortSignal) => Promise<void> {
  const waiting = new Set<() => void>();
  const checkAll = () => {
    for (const check of waiting) check();
  };
  line.onState(checkAll);
  closing.addEventListener('abort', checkAll);
  return async (signal) => {
    closing.throwIfAborted();
    signal?.throwIfAborted();
    if (line.state() === 'writable') return;
    await new Promise<void>((resolve, reject) => {
      const check = () => {
        const given = [closing, signal].find((each) => each?.aborted);
        if (given === undefined && line.state() !== 'writable') return;
        waiting.delete(check);
        signal?.removeEventListener('abort', check);
        if (given === undefined) resolve();
        else reject(given.reason);
      };
      waiting.add(check);
      signal?.addEventListener('abort', check);
    });
  };
}
