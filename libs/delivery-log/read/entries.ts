/**
 * Entries of the delivery log as readers get them: an event, its outcome for each account and API client, and each attempt. Times
 * are milliseconds since the epoch, guids lower-case.
 */
import type { InterfaceName, Key, WaitingReason } from '@waybell/line/outcomes';
import type { ReasonMeaning, SuppressionReason } from '@waybell/line/reasons';
import type { AttemptRow } from '../tables.ts';
import type { NoSubscription } from './no-subscription.ts';

/** A reader is an API client, which sees only its own entries, or an operator. */
export type Reader = ClientReader | 'operator';

/** `withListeners`: includes the deliveries of its listeners. */
export type ClientReader = { account: string; client: string; interface: InterfaceName; withListeners?: true };

/** A reason with its meaning and remedy. */
export type Why = { reason: string } & ReasonMeaning;

export type EventEntry = {
  event: string;
  /** Null if unknown, for a rejected event: only operators see those. */
  interface: InterfaceName | null;
  action: string;
  /** When the router handled it. */
  at: number;
  keys: readonly Key[];
  /** Account guids. */
  receivers: readonly string[];
  verdicts: EventVerdict[];
};

/** One outcome of an event: a delivery, a suppression or a rejection. */
export type EventVerdict =
  | { kind: 'delivery'; delivery: DeliveryEntry }
  | SuppressedVerdict
  | ({ kind: 'rejected'; detail: string; delivery?: string } & Why);

/** Why an account, or a client of it, got nothing; for `no_subscription` with the cause. */
export type SuppressedVerdict = {
  kind: 'suppressed';
  reason: SuppressionReason;
  account?: string;
  client?: string;
  subscription?: string;
  noSubscription?: NoSubscription;
} & Why;

/** Why a delivery may wait, and not only a publication. */
export const WAITING_REASONS: readonly WaitingReason[] = [
  'full',
  'hung',
  'busy',
  'paused',
  'stopped',
  'egress',
  'open',
];

/** `waiting`: no attempt yet. `retrying`: the last one failed, and another is due. */
export type DeliveryStatus = 'waiting' | 'retrying' | 'delivered' | 'exhausted' | 'dropped' | 'rejected';

export const DELIVERY_STATUSES = ['waiting', 'retrying', 'delivered', 'exhausted', 'dropped', 'rejected'] as const;

export type DeliveryEntry = {
  delivery: string;
  event: string;
  interface: InterfaceName;
  action: string;
  /** Keys of the objects that its event is about; empty if the log does not have them. */
  keys: readonly Key[];
  /** When the router made it. */
  at: number;
  subscription: string;
  account: string;
  client: string;
  status: DeliveryStatus;
  /** Why it is not delivered. */
  why?: Why;
  /** Only while it is retried. */
  nextAttemptAt?: number;
  /** Since when, and why, it waits. */
  waiting?: { since: number; why: WaitingReason };
  attempts: AttemptEntry[];
  /** Present if its end switched the subscription off. */
  deactivation?: { at: number; rule: string };
};

/** An object without its members that are null. */
export type WithoutNulls<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> };

type Always = 'attempt' | 'at' | 'kind' | 'subscription';

/** One attempt; or, without a duration, an end without an attempt. `at` is when it ended. */
export type AttemptEntry = Pick<AttemptRow, Always> &
  WithoutNulls<Omit<AttemptRow, Always | 'delivery' | 'event' | 'reason'>> & { why?: Why };
