import type { LiveMessage } from '../../api/live.ts';
import type { ShownDelivery, ShownKey } from '../deliveries/listed-deliveries.ts';
import { standingOf } from '../find/delivery.ts';

export type FeedItem = {
  /** Numbers the items in the order in which they arrived. */
  place: number;
  at: string;
  action: string;
  keys: readonly ShownKey[] | undefined;
  /** `delivered`, `failed`, `exhausted`, `dropped`, `suppressed`, or `notice`; for deliveries from before the feed any status. */
  result: string;
  /** The kind of a notice, such as `subscription.switched_off`. */
  notice: string | undefined;
  reason: string | undefined;
  httpStatus: number | undefined;
  durationMs: number | undefined;
  attempt: number | undefined;
  eventGuid: string | undefined;
  deliveryGuid: string | undefined;
};

type FeedEntry = {
  action: string | null;
  event_guid?: string;
  delivery_guid?: string | null;
  keys?: readonly ShownKey[];
  at?: string;
  reason?: string | null;
  /** For a notice: its kind, the address, and the receiver's last answer. */
  kind?: string;
  callback_url?: string | null;
  /** For a certificate. */
  host?: string | null;
  ends_at?: string | null;
  status?: number | null;
  cause?: string;
  attempt?: {
    at: string;
    kind: string;
    attempt: number;
    reason?: string;
    http_status?: number;
    duration_ms?: number;
  };
};

/** Reads a message of the feed; undefined if it is not about an event, a delivery or a notice. */
export function readItem({ event, data }: LiveMessage, place: number): FeedItem | undefined {
  if (event !== 'attempt' && event !== 'suppressed' && event !== 'notice') return undefined;
  // The document describes entries so.
  const entry = JSON.parse(data) as FeedEntry;
  const { attempt } = entry;
  return {
    place,
    at: attempt?.at ?? entry.at ?? '',
    action: entry.action ?? entry.callback_url ?? entry.host ?? '',
    keys: entry.keys,
    result: attempt?.kind ?? event,
    reason: attempt?.reason ?? entry.cause ?? entry.reason ?? entry.ends_at ?? undefined,
    notice: event === 'notice' ? entry.kind : undefined,
    httpStatus: attempt?.http_status ?? entry.status ?? undefined,
    durationMs: attempt?.duration_ms,
    attempt: attempt?.attempt,
    eventGuid: entry.event_guid,
    deliveryGuid: entry.delivery_guid ?? undefined,
  };
}

/** A delivery from before the feed began, by its last attempt. */
export function itemOfDelivery(delivery: ShownDelivery, place: number): FeedItem {
  const { guid, event_guid: eventGuid, action, keys, at, reason, attempts } = delivery;
  const attempt = attempts.at(-1);
  return {
    place,
    at: attempt?.at ?? at,
    action,
    keys,
    result: attempt?.kind ?? standingOf(delivery),
    reason: attempt?.reason ?? reason,
    notice: undefined,
    httpStatus: attempt?.http_status,
    durationMs: attempt?.duration_ms,
    attempt: attempt?.attempt,
    eventGuid,
    deliveryGuid: guid,
  };
}
