import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Records stored together are similar: the fastest level removes most of the redundancy. */
const FASTEST = { [constants.ZSTD_c_compressionLevel]: 1 };
const LENGTH_BYTES = 4;
const SMALLEST_PIECE = 1_024;

/** Memory of the last chunk, reused for the next: the more is allocated outside of V8, the sooner V8 collects its own heap. */
let memory = Buffer.alloc(0);

/**
 * Packs bodies into one frame of Zstandard: their number, their lengths (32 bits each, little-endian), and then the bodies one
 * after another.
 */
export function packChunk(bodies: readonly Uint8Array[]): Buffer {
  let at = LENGTH_BYTES * (1 + bodies.length);
  const size = bodies.reduce((sum, { length }) => sum + length, at);
  if (memory.length < size) memory = Buffer.alloc(size);
  let lengthAt = memory.writeUInt32LE(bodies.length);
  for (const body of bodies) {
    lengthAt = memory.writeUInt32LE(body.length, lengthAt);
    memory.set(body, at);
    at += body.length;
  }
  return zstdCompressSync(memory.subarray(0, size), {
    params: FASTEST,
    chunkSize: Math.max(SMALLEST_PIECE, size >> 2),
  });
}

/** Returns the bodies of a chunk, by their places. */
export function unpackChunk(chunk: Buffer): Buffer[] {
  const bytes = zstdDecompressSync(chunk);
  const count = bytes.readUInt32LE(0);
  let at = LENGTH_BYTES * (1 + count);
  return Array.from({ length: count }, (_, place) => {
    const length = bytes.readUInt32LE(LENGTH_BYTES * (1 + place));
    return bytes.subarray(at, (at += length));
  });
}
