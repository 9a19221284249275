import type { Clock } from '@waybell/runtime/clock';
import { parseStrictUrl } from '@waybell/runtime/strict-url';
import type { Credentials } from '../credentials/credentials.ts';
import type { AttemptResult } from './attempt.ts';
import { failureOf, resultOf, type Observing, type RequestMade } from './attempt-result.ts';
import { dispatchByAxios } from './dispatch-by-axios.ts';
import { throughUndici, type RequestTerms } from './exchange.ts';
import type { OriginPools } from './origin-pools.ts';
import { newTrace } from './trace.ts';

/** One request for an access token. */
export type TokenUrlRequest = {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Values that no record may show. */
  secrets: readonly string[];
  /** The certificate that its connection authenticates with. */
  certificate?: Credentials['certificate'];
};

/** How it ended, with its body masked, but for tokens; and the body as it came, which is empty without a status. */
export type TokenUrlAnswer = { result: AttemptResult; body: string };

/** Rejects with `Unavailable` if there is no way out. */
export type CallTokenUrl = (request: TokenUrlRequest) => Promise<TokenUrlAnswer>;

export type CallTokenUrlOptions = { pools: OriginPools; observing: Observing; userAgent: string; clock: Clock };

/** The body has to be whole: a token may be a JWT of some kilobytes. */
const LIMITS = { responseMs: 10_000, bodyMs: 2_000, bodyBytes: 64 * 1024, keptBytes: 64 * 1024 };

/** Makes requests to token URLs by the same way as callbacks, with the same checks; no redirect is followed. */
export function callingTokenUrls({ pools, observing, userAgent, clock }: CallTokenUrlOptions): CallTokenUrl {
  return async ({ url, headers, body, secrets, certificate }) => {
    const sent: RequestMade & RequestTerms = {
      url: parseStrictUrl(url),
      headers: { ...headers, 'Accept-Encoding': 'identity', 'User-Agent': userAgent },
      body: Buffer.from(body),
      limits: LIMITS,
      trace: newTrace(clock.now()),
      clock,
      credentials: { secrets },
      ...(certificate && { certificate }),
    };
    try {
      const response = await dispatchByAxios(throughUndici(pools, sent));
      const result = resultOf(response, sent, observing);
      if (result instanceof Error) throw result;
      return { result, body: response.data };
    } catch (error) {
      return { result: await failureOf(error, sent, observing), body: '' };
    }
  };
}
