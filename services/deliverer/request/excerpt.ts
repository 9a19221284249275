import { StringDecoder } from 'node:string_decoder';

const HTML =
  /^[\ufeff\s]*(?:<\?xml[^>]*>\s*)?<(?:!--|(?:!doctype html|html|head|body|title|meta|style|center|div|p|h[1-6])\b)/i;
/** Each matches to the end where its own end is missing: in linear time. */
const UNSHOWN = /<!--[^]*?(?:-->|$)|<(style|script|template|svg)\b[^]*?(?:<\/\1\s*>|$)/gi;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Whether these bytes are the beginning of a page, of which more is needed than is kept: it begins with style sheets. */
export const beginsPage = (bytes: Buffer): boolean => HTML.test(bytes.toString('utf8', 0, 256));

/** The text of a page, without its tags and style sheets, on one line; any other text as it is. */
export function textOfPage(text: string): string {
  if (!HTML.test(text)) return text;
  const shown = text
    .replaceAll(UNSHOWN, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return shown === '' ? text : shown;
}

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
