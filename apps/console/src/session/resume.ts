import { ProblemAnswer } from '../api/problem.ts';
import type { PageSettings } from '../api/settings.ts';
import { explainSignIn } from './explain-sign-in.ts';
import { forget, kept, newId } from './held.ts';
import { hostOf } from './issuer.ts';
import { openLink, reloadByLinks, takeLink } from './link.ts';
import { grantFor, takeAnswer } from './open-id.ts';
import { followSiblings, signIn, stayOut } from './session.ts';
import { heldBySiblings } from './siblings.ts';

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
