import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { CounterOnDemand } from '@waybell/runtime/metrics-on-demand';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import type { AccessTokensOptions } from './access-tokens.ts';

type Fetch = AccessTokensOptions['fetch'];
type Watching = { metrics: Metrics; log: Log; clock: Pick<Clock, 'now'> };

/** Counts fetches by their result. Logs, at most once a minute, the host of a token URL that gave no token. */
export function watchFetches(fetch: Fetch, { metrics, log, clock }: Watching): Fetch {
  const fetches = new CounterOnDemand(metrics, {
    name: 'waybell_token_fetches_total',
    help: 'Access tokens asked for, by result: issued; refused, another status; unusable, a 2xx without a token that can be sent; unanswered; failed, as there was no way out',
    labelNames: ['result'],
  });
  const complain = throttledWarning(log, 'token.missing: deliveries that need it fail', clock);
  return async (oauth2) => {
    const fetched = await fetch(oauth2).catch((error: unknown) => {
      fetches.inc({ result: 'failed' });
      throw error;
    });
    fetches.inc({ result: fetched.kind });
    if (fetched.kind !== 'issued') complain(new Error(`${URL.parse(oauth2.tokenUrl)?.host}: ${fetched.kind}`));
    return fetched;
  };
}
