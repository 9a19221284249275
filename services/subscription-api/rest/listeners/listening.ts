import type { ServerResponse } from 'node:http';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Listener, Listeners } from '../../listeners.ts';
import { EventStream } from '../live/event-stream.ts';
import type { StreamCapacity, WhoseStream } from '../live/stream-capacity.ts';
import type { Channels } from './channels.ts';
import type { ListenerRelay, Relayed } from './relay.ts';

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
