import type { components } from '../../api/client-api.d.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { byUrgency, conditionOf, type SubscriptionCondition } from './condition.ts';
import type { Subscription } from './subscriptions.ts';

export type HealthBucket = components['schemas']['StatisticsOfAction']['buckets'][number];
type Unfinished = components['schemas']['ListedDelivery'];

export type ListedSubscription = {
  subscription: Subscription;
  condition: SubscriptionCondition;
  /** The action's results in the last 24 hours, by the hour; undefined until they are known. */
  buckets: readonly HealthBucket[] | undefined;
  /** Its deliveries whose last attempt failed and that will be tried again, newest first. */
  retrying: readonly Unfinished[];
  /** Its deliveries without an attempt that are older than a passage through the line, newest first. */
  waiting: readonly Unfinished[];
};

const POLL_EVERY_MS = 15_000;
/** At most so many unfinished deliveries are read: enough to show which subscriptions fail. */
export const MOST_UNFINISHED = 200;
/** A younger delivery may be on its way. */
const WAITS_AFTER_MS = 15_000;

/** The client's subscriptions, the most urgent first, then by action; and the answers that they are made of. */
export function useSubscriptionRows() {
  const subscriptions = useAnswer(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions'), {
    refetchInterval: POLL_EVERY_MS,
  });
  const statistics = useAnswer(['statistics'], ({ client }) => client.GET('/v1/statistics'), {
    refetchInterval: POLL_EVERY_MS * 4,
  });
  const { retrying, waiting } = useUnfinished();
  const rows = (subscriptions.data?.objects ?? [])
    .map((subscription): ListedSubscription => {
      const { guid, action } = subscription;
      const ofIt = ({ data }: typeof retrying) => data?.objects.filter((each) => each.subscription_guid === guid);
      const [failing, unsent] = [ofIt(retrying), ofIt(waiting)];
      return {
        subscription,
        condition: conditionOf(subscription, { waiting: unsent?.length, retrying: failing?.length }),
        buckets: statistics.data?.objects.find((each) => each.action === action)?.buckets,
        retrying: failing ?? [],
        waiting: unsent ?? [],
      };
    })
    .toSorted(
      (first, second) =>
        byUrgency(first.condition, second.condition) ||
        first.subscription.action.localeCompare(second.subscription.action),
    );
  return { subscriptions, statistics, retrying, waiting, rows };
}

/** The deliveries that are retried, and those that wait. */
export function useUnfinished() {
  const query = (status: 'retrying' | 'waiting', until?: string) => ({
    params: { query: { status: [status], limit: MOST_UNFINISHED, ...(until !== undefined && { until }) } },
  });
  const often = { refetchInterval: POLL_EVERY_MS };
  const retrying = useAnswer(
    ['deliveries', 'retrying'],
    ({ client }) => client.GET('/v1/deliveries', query('retrying')),
    often,
  );
  const long = () => new Date(Date.now() - WAITS_AFTER_MS).toISOString();
  const waiting = useAnswer(
    ['deliveries', 'waiting'],
    ({ client }) => client.GET('/v1/deliveries', query('waiting', long())),
    often,
  );
  return { retrying, waiting };
}
