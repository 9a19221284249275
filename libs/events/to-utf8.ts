import type { Invalid } from './invalid-event.ts';

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
