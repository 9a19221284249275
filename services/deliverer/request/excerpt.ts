import { StringDecoder } from 'node:string_decoder';

/**
 * Decodes the beginning of a body to text that JSON and Postgres can hold: NUL, which Postgres refuses, and bytes that are
 * not UTF-8 become U+FFFD. Omits a character that is cut in two.
 */
export function excerpt(chunks: readonly Buffer[]): string {
  if (chunks.length === 0) return '';
  return new StringDecoder('utf8').write(Buffer.concat(chunks)).replaceAll('\0', '\ufffd');
}
