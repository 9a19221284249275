import { ProblemAnswer } from '../api/problem.ts';
import { isRefused } from './explain-sign-in.ts';
import { NAME, type SignInToken } from './held.ts';
import { heldBySiblings } from './siblings.ts';

/** The access token to ask with now. Throws a Problem where there is none. */
export type Access = () => Promise<string>;

type Renewal = {
  /** Asks the issuer for the next one. */
  renew: (held: SignInToken) => Promise<SignInToken>;
  onRenewed: (held: SignInToken) => void;
  /** Called once the issuer refuses to renew it. */
  onEnd: (error: unknown) => void;
};

type Renewed = {
  access: Access;
  held: () => SignInToken;
  /** Goes on with what a sibling has. */
  adopt: (held: SignInToken) => void;
};

/** An access token is renewed this long before its end; at half of its life if that is shorter. */
const AHEAD_MS = 60_000;

/**
 * Access by what one is signed in by, renewed when it is asked for near its end: by one request for all who ask meanwhile, in this tab
 * and its siblings, since a refresh token may be good for one use. While the issuer does not answer, the token is used until its end.
 */
export function renewing(first: SignInToken, { renew, onRenewed, onEnd }: Renewal): Renewed {
  let held = first;
  let renewAtMs = dueAtMs(first);
  let renewed: Promise<void> | undefined;

  const adopt = (next: SignInToken) => {
    held = next;
    renewAtMs = dueAtMs(next);
  };
  const isDue = () => held.refreshToken !== undefined && Date.now() >= renewAtMs;
  const renewInTurn = () =>
    inTurn(held.id, async () => {
      const theirs = await heldBySiblings(held.id);
      if (theirs !== undefined && (theirs.endsAtMs ?? 0) > (held.endsAtMs ?? 0)) adopt(theirs);
      if (!isDue()) return;
      adopt(await renew(held));
      onRenewed(held);
    });
  const access = async () => {
    if (!isDue()) return held.token;
    renewed ??= renewInTurn().finally(() => (renewed = undefined));
    try {
      await renewed;
    } catch (error) {
      if (isRefused(error)) {
        onEnd(error);
        throw over();
      }
      if (Date.now() >= (held.endsAtMs ?? Infinity)) throw error;
    }
    return held.token;
  };
  return { access, held: () => held, adopt };
}

function dueAtMs({ endsAtMs }: SignInToken): number {
  return endsAtMs === undefined ? Infinity : endsAtMs - Math.min(AHEAD_MS, (endsAtMs - Date.now()) / 2);
}

/** Does it in no two tabs at once. */
async function inTurn(id: string, work: () => Promise<void>): Promise<void> {
  await navigator.locks.request(`${NAME} ${id}`, work);
}

const over = (): ProblemAnswer =>
  new ProblemAnswer({ kind: 'invalid-token', status: 401, title: 'Signed out', detail: 'Your sign-in has ended.' });
