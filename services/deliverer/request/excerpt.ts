import { StringDecoder } from 'node:string_decoder';

/**
 * Decodes the beginning of a body to text that JSON and Postgres can hold: NUL, which Postgres refuses, and bytes that are
 * not UTF-8 become U+FFFD. Omits a character that is cut in two.
 */
export function excerpt(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first === undefined) return '';
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
  // Only a character of several bytes can be cut in two.
  const isWhole = (bytes.at(-1) ?? 0) < 0x80;
  const text = isWhole ? bytes.toString() : new StringDecoder('utf8').write(bytes);
  return text.replaceAll('\0', '\ufffd');
}
