import { ProblemAnswer, problemOf, unreachable } from '../api/problem.ts';
import type { PageSettings } from '../api/settings.ts';
import { explainSignIn } from './explain-sign-in.ts';
import { forget, kept, newId, heldBySiblings, type SignInToken } from './tabs.ts';
import { hostOf } from './issuer.ts';
import { grantFor, takeAnswer } from './open-id.ts';
import { followSiblings, signIn, stayOut } from './session.ts';
import { root } from '../api/ask.ts';

/**
 * Signs in by the first that there is: a link that opened the page, the answer of an issuer, what this tab has kept, what another tab
 * of this page holds. Otherwise one has to sign in, and is told why what there was did not do.
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
  const code = view === 'client' ? takeLink() : undefined;
  const answer = issuer && takeAnswer();
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
  const held = kept() ?? (await heldBySiblings());
  if (held === undefined) return false;
  try {
    await signIn(held, { settings, isKept: true, isNew: false });
  } catch (error) {
    if (error instanceof ProblemAnswer && !error.isPassing) forget();
    throw error;
  }
  return true;
}

/** The code of a link, and the page that follows it, if any. */
const LINK = /^#link=([\w-]+)(\/.*)?$/;

/** The code of the link that opened the page; undefined where none did. It no longer stands in the address then. */
function takeLink(): string | undefined {
  const [, code, place = '/'] = LINK.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, '', `#${place}`);
  return code;
}

/** Takes the code of a link, which is good for one use, for what one is signed in by. Throws a Problem. */
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

/** A link that is put into the address of an open page, as a parent may, only changes what is behind the #. */
function reloadByLinks(): void {
  addEventListener('hashchange', () => {
    if (LINK.test(location.hash)) location.reload();
  });
}
