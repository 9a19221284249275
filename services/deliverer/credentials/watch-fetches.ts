import type { Clock } from '@waybell/runtime/clock';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import { type Metrics, CounterOnDemand } from '@waybell/runtime/metrics';
import type { AccessTokensOptions } from './access-tokens.ts';
import type { FetchedToken } from './fetch-token.ts';

type Fetch = AccessTokensOptions['fetch'];
type FetchResult = FetchedToken['kind'] | 'failed';
type FetchWatch = { metrics: Metrics; log: Log; clock: Pick<Clock, 'now'> };

/** Returns what counts a fetch by its result. */
export function countFetches(metrics: Metrics): (result: FetchResult) => void {
  const fetches = new CounterOnDemand(metrics, {
    name: 'waybell_token_fetches_total',
    help: 'Access tokens asked for: issued, refused, unusable (none in the answer), unanswered, failed (no way out)',
    labelNames: ['result'],
  });
  return (result) => fetches.inc({ result });
}

/** Counts fetches. Logs, at most once a minute, the host of a token URL that gave no token. */
export function watchFetches(fetch: Fetch, { metrics, log, clock }: FetchWatch): Fetch {
  const count = countFetches(metrics);
  const warn = throttledWarning(log, 'token.missing: deliveries that need it fail', clock);
  return async (need) => {
    const fetched = await fetch(need).catch((error: unknown) => {
      count('failed');
      throw error;
    });
    count(fetched.kind);
    if (fetched.kind !== 'issued') warn(new Error(`${URL.parse(need.oauth2.tokenUrl)?.host}: ${fetched.kind}`));
    return fetched;
  };
}
