import { refuse, type Refusal } from './refusal.ts';

export type BodyLimits = { maxBytes: number; withinMs: number };

/** Reads a body to its end. What is too large, too slow or broken off is an answer; what is left of it is not read. */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, withinMs }: BodyLimits,
): Promise<Buffer | Refusal> {
  const iterator = chunks[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, withinMs, 'late');
  });
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), isLate]);
      if (next === 'late') return refuse('body_too_slow', `the body took more than ${withinMs} ms`);
      if (next.done) return Buffer.concat(read, bytes);
      bytes += next.value.byteLength;
      if (bytes > maxBytes)
        return refuse('body_too_large', `the body has more than ${maxBytes} bytes: see "maxBodyBytes"`);
      read.push(next.value);
    }
  } catch {
    return refuse('body_incomplete', 'the body broke off');
  } finally {
    clearTimeout(timer);
  }
}
