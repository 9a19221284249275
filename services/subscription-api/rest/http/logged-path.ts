import { LINK_PREFIX } from '../../console-links.ts';
import { TOKEN_PREFIX } from '../../tokens.ts';

// A secret belongs into a header, a body or behind a #; a path with one is answered with an error, and logged without it.
const SECRET = new RegExp(String.raw`(${TOKEN_PREFIX}|${LINK_PREFIX})[\w-]+`, 'g');

/** A URL in the place of a host: what stands before its host and after it. */
const HOST_URL = /^(\/v1\/credentials\/).*(?:@|%40|[?#]|%3f|%23|%2f|\/.).*/i;

/** Returns the path of a request without possible secrets: access tokens, codes of links, and URLs of receivers. */
export function loggedPath(path: string): string {
  return path.replaceAll(SECRET, '$1***').replace(HOST_URL, '$1***');
}
