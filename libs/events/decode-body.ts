import { gunzipSync } from 'node:zlib';
import type { Invalid } from './invalid-event.ts';
import { toUtf8 } from './to-utf8.ts';

/** A header of 10 bytes, and 8 at the end, of which the last four are the original length. */
const SMALLEST_GZIP = 18;

type Decoded = { kind: 'bytes'; bytes: Buffer } | Invalid;

/**
 * The body without its content encoding and in UTF-8, at most `maxBytes` long before and after that; a gzip bomb is not inflated
 * beyond it.
 */
export function decodeBody(message: Packed, maxBytes: number): Decoded {
  const unpacked = unpack(message, maxBytes);
  const decoded = unpacked.kind === 'bytes' ? toUtf8(unpacked.bytes) : unpacked;
  return decoded.kind === 'bytes' && decoded.bytes.length > maxBytes ? tooLarge(maxBytes) : decoded;
}

function unpack(message: Packed, maxBytes: number): Decoded {
  const encoding = message.contentEncoding?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip') return gunzip(message.body, maxBytes);
  // Some clients name the character set here; which it is, is seen from the bytes.
  if (!/^(?:|identity|utf-?(?:8|16(?:le|be)?))$/.test(encoding)) {
    const detail = `content_encoding "${encoding}" is not known: publish plain JSON or gzip`;
    return { kind: 'invalid', reason: 'unknown_encoding', detail };
  }
  return message.body.length > maxBytes ? tooLarge(maxBytes) : { kind: 'bytes', bytes: message.body };
}

type Packed = { body: Buffer; contentEncoding?: string | undefined };

/**
 * Returns the size of the body without its content encoding, in bytes, as its header claims; reads nothing if that exceeds
 * `maxBytes`.
 */
export function unpackedBytes(packed: Packed, maxBytes: number): number {
  const { body, contentEncoding = '' } = packed;
  const isGzip = contentEncoding.trim().toLowerCase() === 'gzip';
  return isGzip ? Math.max(body.length, Math.min(saidIn(body), maxBytes)) : body.length;
}

/** Reads the original length from the last four bytes of a gzip stream. */
function saidIn(gzip: Buffer): number {
  return gzip.length < SMALLEST_GZIP ? 0 : gzip.readUInt32LE(gzip.length - 4);
}

function gunzip(body: Buffer, maxBytes: number): Decoded {
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
  const detail = `the body is longer than ${maxBytes} bytes (after gunzip, where it is compressed, and in UTF-8)`;
  return { kind: 'invalid', reason: 'too_large', detail };
}
