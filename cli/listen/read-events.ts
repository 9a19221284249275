/** One server-sent event; a comment has neither name nor data. */
export type StreamEvent = { name: string; data: string };

export type ByteStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The events of a stream. Throws where the stream is cut, or says nothing for so long that its server must have gone. */
export async function* readEvents(stream: ByteStream, silenceMs: number): AsyncGenerator<StreamEvent> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), silenceMs);
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) yield eventOf(block);
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

function eventOf(block: string): StreamEvent {
  const event = { name: '', data: '' };
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) event.name = line.slice('event: '.length);
    if (line.startsWith('data: ')) event.data = line.slice('data: '.length);
  }
  return event;
}
