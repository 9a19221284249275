/** The body of a message without its content encoding and in UTF-8. */
import { gunzipSync } from 'node:zlib';
import type { Invalid } from './event.ts';

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

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'UTF-32';

/**
 * Converts a JSON document to UTF-8 without a byte order mark. Recognises UTF-16 by its mark, or by the zeros in the first
 * characters of a document (RFC 4627, 3), whatever its content type claims. Refuses UTF-32 and broken UTF-16. `readJson` checks
 * that other bytes are UTF-8.
 */
export function toUtf8(bytes: Buffer): { kind: 'bytes'; bytes: Buffer } | Invalid {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return { kind: 'bytes', bytes };
  if (encoding === 'utf-8') return { kind: 'bytes', bytes: bytes.subarray(UTF8_MARK.length) };
  try {
    if (encoding === 'UTF-32') return refused(encoding, '');
    return { kind: 'bytes', bytes: Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(bytes)) };
  } catch {
    return refused(encoding.toUpperCase(), ', and broken');
  }
}

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** First bytes of a document that is an object or a list. */
const BEGINNINGS = new Set(Buffer.from('{[ \t\r\n'));

/** Undefined where nothing is to be done about it. */
function encodingOf(bytes: Buffer): Encoding | undefined {
  // Destructuring would make an iterator.
  const one = bytes[0] ?? 1;
  const two = bytes[1] ?? 1;
  const three = bytes[2] ?? 1;
  const four = bytes[3] ?? 1;
  if (one === 0xef) return UTF8_MARK.equals(bytes.subarray(0, UTF8_MARK.length)) ? 'utf-8' : undefined;
  if (one === 0xff && two === 0xfe) return three === 0 && four === 0 ? 'UTF-32' : 'utf-16le';
  if (one === 0xfe && two === 0xff) return 'utf-16be';
  if (one === 0 && two === 0) return 'UTF-32';
  if (one === 0) return BEGINNINGS.has(two) ? 'utf-16be' : undefined;
  if (two !== 0 || !BEGINNINGS.has(one)) return undefined;
  return three === 0 ? 'UTF-32' : 'utf-16le';
}

function refused(encoding: string, how: string): Invalid {
  const detail = `the body is in ${encoding}${how}: write it in UTF-8`;
  return { kind: 'invalid', reason: 'not_utf8', detail };
}
