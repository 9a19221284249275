import {
  AccessTokens,
  type AccessTokensOptions,
  type GivenToken,
  type FetchedToken,
  type TokenNeed,
} from '../credentials/access-tokens.ts';
import type { SharedTokens } from '../credentials/shared-tokens.ts';
import type { AttemptResult } from '../request/attempt.ts';

export const NEED: TokenNeed = {
  guid: 'c0c0c0c0-c0c0-4c0c-8c0c-c0c0c0c0c0c0',
  callbackUrl: 'https://hooks.example/',
  oauth2: { tokenUrl: 'https://tokens.example/', clientId: 'us', clientSecret: 'hush', secretIn: 'header' },
};

/** For a process that shares no tokens. */
export const UNSHARED: SharedTokens = {
  readOrClaim: async () => ({ found: undefined, isOursToFetch: true }),
  share: async () => undefined,
};

export const NO_TOKEN: AttemptResult = {
  isDelivered: false,
  reason: 'credentials_unavailable',
  durationMs: 7,
  body: 'The token URL answered 401',
};

export const refused = (what: Partial<AttemptResult> = {}): FetchedToken => ({
  kind: 'refused',
  failure: { ...NO_TOKEN, ...what },
});

/** Tokens of one process, whose fetches end when a test says so: `fetches` has what ends each. */
export function someTokens(what: Pick<AccessTokensOptions, 'clock'> & Partial<AccessTokensOptions>) {
  const fetches: ((fetched: FetchedToken) => void)[] = [];
  const fetch = () => new Promise<FetchedToken>((resolve) => void fetches.push(resolve));
  const tokens = new AccessTokens({ fetch, shared: UNSHARED, ...what });
  return { tokens, fetches };
}

export const issued = (token: string, lifeMs = 100_000): FetchedToken => ({ kind: 'issued', token, lifeMs });

export const given = (token: string): GivenToken => ({ kind: 'token', token });
