import type { components } from '../../api/client-api.d.ts';
import { useTold } from '../../api/use-told.ts';
import { byUrgency, conditionOf, type SubscriptionCondition } from './condition.ts';
import type { Subscription } from './subscribing.ts';

export type HealthBucket = components['schemas']['StatisticsOfAction']['buckets'][number];
type Retrying = components['schemas']['ListedDelivery'];

export type ListedSubscription = {
  subscription: Subscription;
  condition: SubscriptionCondition;
  /** The action's results in the last 24 hours, by the hour; undefined until they are known. */
  buckets: readonly HealthBucket[] | undefined;
  /** Its deliveries whose last attempt failed and that will be tried again, newest first. */
  retrying: readonly Retrying[];
};

const LOOK_EVERY_MS = 15_000;
/** Limit of the retried deliveries that are read: enough to tell which subscriptions fail. */
export const MOST_RETRYING = 200;

/** The client's subscriptions, those that need attention first, then by action; and what they are made of. */
export function useSubscriptionRows() {
  const subscriptions = useTold(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions'), {
    refetchInterval: LOOK_EVERY_MS,
  });
  const statistics = useTold(['statistics'], ({ client }) => client.GET('/v1/statistics'), {
    refetchInterval: LOOK_EVERY_MS * 4,
  });
  const retrying = useTold(
    ['deliveries', 'retrying'],
    ({ client }) => client.GET('/v1/deliveries', { params: { query: { status: ['retrying'], limit: MOST_RETRYING } } }),
    { refetchInterval: LOOK_EVERY_MS },
  );
  const rows = (subscriptions.data?.objects ?? [])
    .map((subscription): ListedSubscription => {
      const { guid, action } = subscription;
      const failing = (retrying.data?.objects ?? []).filter((each) => each.subscription_guid === guid);
      return {
        subscription,
        condition: conditionOf(subscription, failing.length),
        buckets: statistics.data?.objects.find((each) => each.action === action)?.buckets,
        retrying: failing,
      };
    })
    .toSorted(
      (first, second) =>
        byUrgency(first.condition, second.condition) ||
        first.subscription.action.localeCompare(second.subscription.action),
    );
  return { subscriptions, statistics, retrying, rows };
}
