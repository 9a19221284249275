import { root } from '../api/ask.ts';
import { problemOf, unreachable } from '../api/problem.ts';
import { newId, type SignInToken } from './held.ts';

/** The code of a link, and the page that follows it, if any. */
const LINK = /^#link=([\w-]+)(\/.*)?$/;

/** The code of the link that opened the page; undefined where none did. It no longer stands in the address then. */
export function takeLink(): string | undefined {
  const [, code, place = '/'] = LINK.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, '', `#${place}`);
  return code;
}

/** Takes the code of a link, which is good for one use, for what one is signed in by. Throws a Problem. */
export async function openLink(code: string): Promise<SignInToken> {
  const response = await fetch(new URL('v1/console-sessions', root), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch(() => {
    throw unreachable();
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response, body);
  // The document describes the answer so.
  const { token, expires_at: endsAt } = body as { token: string; expires_at: string };
  return { id: newId(), token, endsAtMs: Date.parse(endsAt), isByLink: true };
}

/** A link that is put into the address of an open page, as a parent may, only changes what is behind the #. */
export function reloadByLinks(): void {
  addEventListener('hashchange', () => {
    if (LINK.test(location.hash)) location.reload();
  });
}
