import { LINK_PREFIX } from '../../console-links.ts';
import { TOKEN_PREFIX } from '../../tokens.ts';

// Belongs into a header, a body or behind a #; who puts it into a path is told so, and the log is not told what it is.
const SECRET = new RegExp(String.raw`(${TOKEN_PREFIX}|${LINK_PREFIX})[\w-]+`, 'g');

/** A URL in the place of a host: what stands before its host and after it. */
const HOST_URL = /^(\/v1\/credentials\/).*(?:@|%40|[?#]|%3f|%23|%2f|\/.).*/i;

/** The path of a request without what may be a secret in it: access tokens, codes of links, and URLs of receivers. */
export function loggedPath(path: string): string {
  return path.replaceAll(SECRET, '$1***').replace(HOST_URL, '$1***');
}
