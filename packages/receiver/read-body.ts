import { inTime } from './in-time.ts';
import { refuse, type Refusal } from './refusal.ts';

export type BodyLimits = { maxBytes: number; withinMs: number };

/** Reads a body to its end. Returns an answer for one that is too large, too slow or broken off; the rest is not read. */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, withinMs }: BodyLimits,
): Promise<Buffer | Refusal> {
  const waiting = new AbortController();
  const read = await inTime(readAll(chunks, maxBytes, waiting.signal), withinMs);
  waiting.abort();
  return read === 'late' ? refuse('body_too_slow', `the body took more than ${withinMs} ms`) : read;
}

const FIRST_BYTES = 16 * 1024;

/** Copies chunks into one buffer: kept as they are, chunks of a byte would take a hundred times their size. */
async function readAll(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  waiting: AbortSignal,
): Promise<Buffer | Refusal> {
  // Left early, `for await` would end the stream, and with it the connection that the answer takes.
  const iterator = chunks[Symbol.asyncIterator]();
  let buffer = Buffer.alloc(0);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value: chunk } = await iterator.next();
      if (done || waiting.aborted) return buffer.subarray(0, bytes);
      const end = bytes + chunk.byteLength;
      if (end > maxBytes)
        return refuse('body_too_large', `the body has more than ${maxBytes} bytes: see "maxBodyBytes"`);
      if (end > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(FIRST_BYTES, end, buffer.length * 2)));
        buffer.copy(larger, 0, 0, bytes);
        buffer = larger;
      }
      buffer.set(chunk, bytes);
      bytes = end;
    }
  } catch {
    return refuse('body_incomplete', 'the body broke off');
  }
}
