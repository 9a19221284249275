/**
 * Entries of the delivery log as readers get them: an event, its outcome for each account and API client,
 * and each attempt. Times are milliseconds since the epoch, guids lower-case.
 */
import type { InterfaceName, Key, ParkReason } from '@waybell/line/outcomes';
import type { ReasonMeaning, SuppressionReason } from '@waybell/line/reasons';
import type { AttemptRow } from '../tables.ts';
import type { NoSubscription } from './no-subscription.ts';

/** A reader is an API client, which is told of nothing but its own, or an operator. */
export type Reader = ClientReader | 'operator';

/** `withListeners`: what its listeners got is told, too. */
export type ClientReader = { account: string; client: string; interface: InterfaceName; withListeners?: true };

/** A reason with what it means and what can be done about it. */
export type Why = { reason: string } & ReasonMeaning;

export type EventEntry = {
  event: string;
  /** Null where it could not be told of an event that was rejected: only operators see those. */
  interface: InterfaceName | null;
  action: string;
  /** When the router looked at it. */
  at: number;
  keys: readonly Key[];
  /** Accounts. */
  receivers: readonly string[];
  verdicts: EventVerdict[];
};

/** One outcome of an event: a delivery, a suppression or a rejection. */
export type EventVerdict =
  | { kind: 'delivery'; delivery: DeliveryEntry }
  | SuppressedVerdict
  | ({ kind: 'rejected'; detail: string; delivery?: string } & Why);

/** Why an account, or a client of it, got nothing; for `no_subscription` with how that came about. */
export type SuppressedVerdict = {
  kind: 'suppressed';
  reason: SuppressionReason;
  account?: string;
  client?: string;
  subscription?: string;
  noSubscription?: NoSubscription;
} & Why;

export const PARK_REASONS: readonly ParkReason[] = ['full', 'hung', 'busy', 'egress'];

/** `waiting`: no attempt yet. `retrying`: the last one failed, and another is due. */
export type DeliveryStatus = 'waiting' | 'retrying' | 'delivered' | 'exhausted' | 'dropped' | 'rejected';

export const DELIVERY_STATUSES = ['waiting', 'retrying', 'delivered', 'exhausted', 'dropped', 'rejected'] as const;

export type DeliveryEntry = {
  delivery: string;
  event: string;
  interface: InterfaceName;
  action: string;
  /** When the router made it. */
  at: number;
  subscription: string;
  account: string;
  client: string;
  status: DeliveryStatus;
  /** Why it is not delivered. */
  why?: Why;
  /** While it is retried. */
  nextAttemptAt?: number;
  /** It waits for its endpoint: since when, and why. */
  parked?: { since: number; why: ParkReason };
  attempts: AttemptEntry[];
  /** Giving it up switched the subscription off. */
  deactivation?: { at: number; rule: string };
};

/** An object without its members that are null. */
export type WithoutNulls<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> };

type Always = 'attempt' | 'at' | 'kind' | 'subscription';

/** One attempt, or, without a duration, the end that came instead of one: what its row has. `at` is when it ended. */
export type AttemptEntry = Pick<AttemptRow, Always> &
  WithoutNulls<Omit<AttemptRow, Always | 'delivery' | 'reason'>> & { why?: Why };
