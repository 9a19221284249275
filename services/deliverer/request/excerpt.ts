import { StringDecoder } from 'node:string_decoder';

/**
 * The beginning of an answer's body, as text that JSON and Postgres can hold: no text in Postgres has a NUL in it.
 * Nothing of a character that is cut in two; what is not UTF-8 shows as U+FFFD.
 */
export function excerpt(chunks: readonly Buffer[]): string {
  if (chunks.length === 0) return '';
  return new StringDecoder('utf8').write(Buffer.concat(chunks)).replaceAll('\0', '\ufffd');
}
