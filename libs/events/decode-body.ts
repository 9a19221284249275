import { gunzipSync } from 'node:zlib';
import type { Invalid } from './invalid-event.ts';

/** The body without its content encoding, at most `maxBytes` long; a gzip bomb is not inflated beyond that. */
export function decodeBody(
  message: { body: Buffer; contentEncoding?: string | undefined },
  maxBytes: number,
): { kind: 'bytes'; bytes: Buffer } | Invalid {
  const encoding = message.contentEncoding?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip') return gunzip(message.body, maxBytes);
  // Some clients name the character set here; whether it is UTF-8 is seen from the bytes.
  if (!['', 'identity', 'utf-8', 'utf8'].includes(encoding)) {
    const detail = `content_encoding "${encoding}" is not known: publish plain JSON or gzip`;
    return { kind: 'invalid', reason: 'unknown_encoding', detail };
  }
  return message.body.length > maxBytes ? tooLarge(maxBytes) : { kind: 'bytes', bytes: message.body };
}

function gunzip(body: Buffer, maxBytes: number): { kind: 'bytes'; bytes: Buffer } | Invalid {
  try {
    return { kind: 'bytes', bytes: gunzipSync(body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isLonger =
      typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isLonger) return tooLarge(maxBytes);
    const detail = 'content_encoding is gzip, but the body is not a whole gzip stream';
    return { kind: 'invalid', reason: 'broken_gzip', detail };
  }
}

function tooLarge(maxBytes: number): Invalid {
  const detail = `the body is longer than ${maxBytes} bytes (after gunzip, where it is compressed)`;
  return { kind: 'invalid', reason: 'too_large', detail };
}
