import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** What is stored together is similar: the fastest level takes most of it. */
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const LENGTH_BYTES = 4;

/**
 * Packs bodies into one frame of Zstandard: their number, their lengths (32 bits each, little-endian), and then the bodies one
 * after another.
 */
export function packChunk(bodies: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(LENGTH_BYTES * (1 + bodies.length));
  head.writeUInt32LE(bodies.length, 0);
  for (const [place, { length }] of bodies.entries()) head.writeUInt32LE(length, LENGTH_BYTES * (1 + place));
  return zstdCompressSync(Buffer.concat([head, ...bodies]), FASTEST);
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
