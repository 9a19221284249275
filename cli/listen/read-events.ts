import { createParser, type EventSourceMessage } from 'eventsource-parser';

export type ByteStream = ReadableStream<Uint8Array<ArrayBuffer>>;

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
