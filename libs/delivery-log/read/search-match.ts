import type { InterfaceName } from '@waybell/line/outcomes';
import type { DeliveryRow } from './deliveries.ts';
import type { SubscriptionEntry } from './subscriptions.ts';

/** One meaning of a searched text. */
export type SearchMatch =
  | { kind: 'event'; event: string; interface: InterfaceName; action: string; at: number }
  | DeliveryMatch
  | SubscriptionMatch
  | AccountMatch
  | FoundKey;

export type DeliveryMatch = { kind: 'delivery' } & Pick<
  DeliveryRow,
  'delivery' | 'account' | 'client' | 'interface' | 'action' | 'at'
>;

/** Its URL is without the query. */
export type SubscriptionMatch = { kind: 'subscription' } & Pick<
  SubscriptionEntry,
  'subscription' | 'account' | 'client' | 'interface' | 'action' | 'url'
> & { at: number };

export type AccountMatch = {
  kind: 'account';
  account: string;
  interface: InterfaceName;
  name: string | null;
  at: number;
};

/** Chooses some meanings; `keyKind`: the kind of a key. */
export type MatchFilter = { as?: SearchMatch['kind'] | undefined; keyKind?: string | undefined };

/** A key that events have. `events`: how many, counted up to `MOST_COUNTED`. */
export type FoundKey = { kind: 'key'; key: string; keyKind: string; events: number; at: number };
