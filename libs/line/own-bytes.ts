const WORTH_COPYING = 4;

/** Copies the bytes if their underlying buffer is much larger, so that keeping them does not keep the whole chunk in memory. */
export function ownBytes(bytes: Buffer): Buffer {
  return bytes.length * WORTH_COPYING < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
}
