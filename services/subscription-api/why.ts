/** Answers an operator's question about any guid, number or text. */
import type { ListenerOption } from '@waybell/delivery-log/listener-client';
import { accountsOf, type AccountEntry } from '@waybell/delivery-log/read/accounts';
import { latestDeliveries } from '@waybell/delivery-log/read/candidates';
import type { Page, PageRequest } from '@waybell/delivery-log/read/cursor';
import type { DeliveryEntry, EventEntry } from '@waybell/delivery-log/read/entries';
import { findAnything, type MatchFilter, type SearchMatch } from '@waybell/delivery-log/read/find-anything';
import { deliveryHistory, eventHistory, timelineOf, withAttempts } from '@waybell/delivery-log/read/history';
import { subscriptionsOf, type SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import type { Queryable } from '@waybell/runtime/postgres';

/** The text is a guid, a number, a VIN, a name, a URL …; `as` chooses one of several meanings. */
export type Question = PageRequest &
  ListenerOption &
  MatchFilter & {
    text: string;
  };

export type WhyResult =
  | { kind: 'nothing' }
  /** The text has several meanings. */
  | { kind: 'several'; candidates: SearchMatch[] }
  | { kind: 'events'; of: SearchMatch; page: Page<EventEntry> }
  | { kind: 'delivery'; delivery: DeliveryEntry }
  | { kind: 'subscription'; subscription: SubscriptionEntry; latest: DeliveryEntry[] }
  | { kind: 'account'; account: AccountEntry; subscriptions: SubscriptionEntry[]; latest: DeliveryEntry[] };

/** The result, with the accounts that it mentions, by guid. */
export type WhyAnswer = WhyResult & { accounts: ReadonlyMap<string, AccountEntry> };

export async function why(postgres: Queryable, question: Question): Promise<WhyAnswer> {
  const answer = await answerOf(postgres, question);
  return { ...answer, accounts: await accountsOf(postgres, accountsIn(answer)) };
}

async function answerOf(postgres: Queryable, { text, as, keyKind, ...paging }: Question): Promise<WhyResult> {
  const candidates = await findAnything(postgres, text, { as, keyKind });
  const [found] = candidates;
  if (found === undefined) return { kind: 'nothing' };
  return candidates.length === 1 ? answerFor(postgres, found, paging) : { kind: 'several', candidates };
}

async function answerFor(
  postgres: Queryable,
  found: SearchMatch,
  { withListeners, ...paging }: PageRequest & ListenerOption,
): Promise<WhyResult> {
  switch (found.kind) {
    case 'event': {
      const entries = await eventHistory(postgres, found.event, 'operator', { withListeners });
      return { kind: 'events', of: found, page: { entries } };
    }
    case 'key': {
      const about = { key: found.key, kind: found.keyKind };
      const asked = { about, reader: 'operator', withListeners, ...paging } as const;
      return { kind: 'events', of: found, page: await timelineOf(postgres, asked) };
    }
    case 'delivery': {
      const delivery = await deliveryHistory(postgres, found, 'operator');
      return delivery === undefined ? { kind: 'nothing' } : { kind: 'delivery', delivery };
    }
    case 'subscription': {
      const [subscription] = await subscriptionsOf(postgres, { subscription: found.subscription });
      if (subscription === undefined) return { kind: 'nothing' };
      return { kind: 'subscription', subscription, latest: await latestOf(postgres, [subscription], paging) };
    }
    case 'account': {
      const account = (await accountsOf(postgres, [found.account])).get(found.account);
      if (account === undefined) return { kind: 'nothing' };
      const subscriptions = await subscriptionsOf(postgres, { account: found.account, withListeners });
      return { kind: 'account', account, subscriptions, latest: await latestOf(postgres, subscriptions, paging) };
    }
  }
}

async function latestOf(
  postgres: Queryable,
  subscriptions: readonly SubscriptionEntry[],
  { limit }: PageRequest,
): Promise<DeliveryEntry[]> {
  const lasting = subscriptions.map((each) => ({ ...each, endedAt: offSince(each) }));
  return withAttempts(postgres, await latestDeliveries(postgres, lasting, limit));
}

/** When it ended or was switched off; null if it is on. */
function offSince({ endedAt, switches }: SubscriptionEntry): number | null {
  const last = switches.at(-1);
  return last?.isOn === false ? last.at : endedAt;
}

function accountsIn(answer: WhyResult): string[] {
  switch (answer.kind) {
    case 'events':
      return answer.page.entries.flatMap(({ receivers }) => receivers);
    case 'delivery':
      return [answer.delivery.account];
    case 'subscription':
      return [answer.subscription.account];
    case 'account':
      return [answer.account.account];
    case 'several':
      return answer.candidates.flatMap((found) => ('account' in found ? [found.account] : []));
    case 'nothing':
      return [];
  }
}
