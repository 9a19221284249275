/** Matches what no URI has in its path or query (RFC 3986, 3.3 and 3.4), though the URL standard leaves it: servers refuse it. */
const FOREIGN = /[^\w\-.~!$&'()*+,;=:@/?%]|%(?![\da-f]{2})/gi;
const LONE_PERCENT = /%(?![\da-f]{2})/i;

/** Reads a URL as the URL standard does, with path and query encoded as RFC 3986 wants them; null if it is none. */
export function parseStrictUrl(text: string): URL | null {
  const url = URL.parse(text);
  // Setting a part reads the URL once more.
  if (url !== null && url.pathname.search(FOREIGN) !== -1) url.pathname = url.pathname.replaceAll(FOREIGN, encoded);
  if (url !== null && url.search.search(FOREIGN) !== -1) url.search = url.search.replaceAll(FOREIGN, encoded);
  return url;
}

// The URL standard has encoded what is not ASCII.
const encoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/** Returns where a `%` begins no escape, counted from 1; undefined if there is none. */
export function lonePercentIn(text: string): number | undefined {
  const at = text.search(LONE_PERCENT);
  return at === -1 ? undefined : at + 1;
}
