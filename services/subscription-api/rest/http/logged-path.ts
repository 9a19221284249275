import { TOKEN_PREFIX } from '../../tokens.ts';

// Belongs into a header or a body; who puts it into a path is told so, and the log is not told what it is.
const TOKEN = new RegExp(String.raw`${TOKEN_PREFIX}[\w-]+`, 'g');

/** A URL in the place of a host: what stands before its host and after it. */
const HOST_URL = /^(\/v1\/credentials\/).*(?:@|%40|[?#]|%3f|%23|%2f|\/.).*/i;

/** The path of a request without what may be a secret in it: access tokens, and URLs of receivers. */
export function loggedPath(path: string): string {
  return path.replaceAll(TOKEN, `${TOKEN_PREFIX}***`).replace(HOST_URL, '$1***');
}
