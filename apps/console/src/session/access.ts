import { ProblemAnswer } from '../api/problem.ts';
import { isRefused } from './explain-sign-in.ts';
import type { TokenGrant } from './issuer.ts';

/** The access token to ask with now. Throws a Problem where there is none. */
export type Access = () => Promise<string>;

type Renewal = {
  grant: TokenGrant;
  onRenewed: (token: string) => void;
  /** Called once the issuer refuses to renew it. */
  onEnd: (error: unknown) => void;
};

/** As long before its end an access token is renewed; half of its life where that is shorter. */
const AHEAD_MS = 60_000;

/**
 * Access by a grant, renewed when somebody asks for it near its end: one request for all who ask meanwhile, since a
 * refresh token may be good for one use. While the issuer does not answer, the token is used until its end.
 */
export function renewing({ grant, onRenewed, onEnd }: Renewal): Access {
  let held = { ...grant, renewAtMs: renewAtMs(grant) };
  let renewed: Promise<void> | undefined;

  const renew = async (from: () => Promise<TokenGrant>) => {
    const next = await from();
    held = { ...next, renewAtMs: renewAtMs(next) };
    onRenewed(next.token);
  };
  return async () => {
    if (held.renew === undefined || Date.now() < held.renewAtMs) return held.token;
    renewed ??= renew(held.renew).finally(() => (renewed = undefined));
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
}

function renewAtMs({ endsAtMs }: TokenGrant): number {
  return endsAtMs === undefined ? Infinity : endsAtMs - Math.min(AHEAD_MS, (endsAtMs - Date.now()) / 2);
}

const over = (): ProblemAnswer =>
  new ProblemAnswer({ kind: 'invalid-token', status: 401, title: 'Signed out', detail: 'Your sign-in has ended.' });
