const WORTH_COPYING = 4;

/** Bytes that are held for long are not to hold the whole chunk that they came in, which may be many times as large. */
export function ownBytes(bytes: Buffer): Buffer {
  return bytes.length * WORTH_COPYING < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
}
