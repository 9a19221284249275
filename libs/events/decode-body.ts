import { gunzipSync } from 'node:zlib';
import type { Invalid } from './invalid-event.ts';

/** A header of 10 bytes, and 8 at the end, of which the last four tell the length before. */
const SMALLEST_GZIP = 18;

/** The body without its content encoding, at most `maxBytes` long; a gzip bomb is not inflated beyond that. */
export function decodeBody(message: Packed, maxBytes: number): { kind: 'bytes'; bytes: Buffer } | Invalid {
  const encoding = message.contentEncoding?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip') return gunzip(message.body, maxBytes);
  // Some clients name the character set here; whether it is UTF-8 is seen from the bytes.
  if (!['', 'identity', 'utf-8', 'utf8'].includes(encoding)) {
    const detail = `content_encoding "${encoding}" is not known: publish plain JSON or gzip`;
    return { kind: 'invalid', reason: 'unknown_encoding', detail };
  }
  return message.body.length > maxBytes ? tooLarge(maxBytes) : { kind: 'bytes', bytes: message.body };
}

type Packed = { body: Buffer; contentEncoding?: string | undefined };

/** What the body weighs without its content encoding, by what it says itself; of what would be more than `maxBytes`, nothing is read. */
export function unpackedBytes(packed: Packed, maxBytes: number): number {
  const { body, contentEncoding = '' } = packed;
  const isGzip = contentEncoding.trim().toLowerCase() === 'gzip';
  return isGzip ? Math.max(body.length, Math.min(saidIn(body), maxBytes)) : body.length;
}

/** Its last four bytes tell the length of what a gzip stream was made of. */
function saidIn(gzip: Buffer): number {
  return gzip.length < SMALLEST_GZIP ? 0 : gzip.readUInt32LE(gzip.length - 4);
}

function gunzip(body: Buffer, maxBytes: number): { kind: 'bytes'; bytes: Buffer } | Invalid {
  const said = saidIn(body);
  try {
    return { kind: 'bytes', bytes: gunzipSync(body, { maxOutputLength: Math.max(1, Math.min(said, maxBytes)) }) };
  } catch (error) {
    const isLonger =
      typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isLonger && said > maxBytes) return tooLarge(maxBytes);
    const detail = isLonger
      ? `content_encoding is gzip, and more is in the body than the ${said} bytes that it says at its end`
      : 'content_encoding is gzip, but the body is not a whole gzip stream';
    return { kind: 'invalid', reason: 'broken_gzip', detail };
  }
}

function tooLarge(maxBytes: number): Invalid {
  const detail = `the body is longer than ${maxBytes} bytes (after gunzip, where it is compressed)`;
  return { kind: 'invalid', reason: 'too_large', detail };
}
