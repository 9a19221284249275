/** How the page signs in when it opens. */
import { root } from '../api/create-api.ts';
import { ProblemAnswer, problemOf, unreachable } from '../api/problem.ts';
import type { PageSettings } from '../settings.ts';
import { consumeAnswer, explainSignIn, grantFor, hostOf } from './open-id.ts';
import { followSiblings, signIn, stayOut } from './session.ts';
import { askSiblings, forget, kept, newId, type SignInToken } from './tabs.ts';

/**
 * Signs in by the first of these that there is: a link that opened the page, the answer of an issuer, the token that this tab has
 * stored, the token of another tab of this page. Otherwise one has to sign in, and is shown why what there was did not work.
 */
export async function resume(settings: PageSettings): Promise<void> {
  reloadByLinks();
  followSiblings(settings);
  try {
    if (!(await resumeByAddress(settings)) && !(await resumeByTabs(settings))) stayOut();
  } catch (error) {
    stayOut(explainSignIn(error, settings.signIn && hostOf(settings.signIn)));
  }
}

async function resumeByAddress(settings: PageSettings): Promise<boolean> {
  const { view, signIn: issuer } = settings;
  const code = view === 'client' ? consumeLink() : undefined;
  const answer = issuer && consumeAnswer();
  if (code !== undefined) {
    // The link may be for another user, whether it opens or not.
    forget();
    await signIn(await openLink(code), { settings, isKept: true, isNew: true });
  } else if (issuer !== undefined && answer !== undefined) {
    const { isKept, ...grant } = await grantFor(issuer, answer);
    await signIn({ id: newId(), ...grant }, { settings, isKept, isNew: true });
  } else return false;
  return true;
}

async function resumeByTabs(settings: PageSettings): Promise<boolean> {
  const token = kept() ?? (await askSiblings());
  if (token === undefined) return false;
  try {
    await signIn(token, { settings, isKept: true, isNew: false });
  } catch (error) {
    if (error instanceof ProblemAnswer && !error.isPassing) forget();
    throw error;
  }
  return true;
}

/** The code of a link, and the page that follows it, if any. */
const LINK = /^#link=([\w-]+)(\/.*)?$/;

/** Returns the code of the link that opened the page, and removes it from the address; undefined if no link did. */
function consumeLink(): string | undefined {
  const [, code, place = '/'] = LINK.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, '', `#${place}`);
  return code;
}

/** Exchanges the code of a link, which is good for one use, for a token. Throws a Problem. */
async function openLink(code: string): Promise<SignInToken> {
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

/** A link that is put into the address of an open page, as a parent may, only changes the fragment: the page loads again. */
function reloadByLinks(): void {
  addEventListener('hashchange', () => {
    if (LINK.test(location.hash)) location.reload();
  });
}
