/** Views of the delivery log for clients: events, deliveries, attempts, and the request that a receiver was sent. */
import { columnNameOf } from '@waybell/delivery-log/tables';
import type {
  AttemptEntry,
  DeliveryEntry,
  EventEntry,
  SuppressedVerdict,
  EventVerdict,
  Why,
} from '@waybell/delivery-log/read/entries';
import { asCurl, type SentRequest } from '../../operations/sent-request.ts';

/** An event, and its results for the client. */
export function eventView({ event, action, at, keys, verdicts }: EventEntry) {
  return { event_guid: event, action, at: moment(at), keys, verdicts: verdicts.map(verdictView) };
}

/** An event's result for the client. */
export function verdictView(verdict: EventVerdict) {
  switch (verdict.kind) {
    case 'delivery':
      return { kind: 'delivery', delivery: deliveryView(verdict.delivery) };
    case 'suppressed':
      return { kind: 'suppressed', ...whyView(verdict), ...causeView(verdict) };
    case 'rejected':
      return { kind: 'rejected', ...whyView(verdict), detail: verdict.detail };
  }
}

/** The subscription or, without one, the cause. */
function causeView({ subscription, noSubscription }: SuppressedVerdict) {
  return {
    subscription_guid: subscription ?? noSubscription?.subscription,
    cause: noSubscription?.cause,
    cause_at: moment(noSubscription?.at),
    rule: noSubscription?.rule,
  };
}

/** A delivery with its attempts, without what receivers answered: that would swell a list. */
export function deliveryView(entry: DeliveryEntry) {
  const { why, nextAttemptAt, waiting, deactivation } = entry;
  return {
    guid: entry.delivery,
    event_guid: entry.event,
    action: entry.action,
    keys: entry.keys,
    subscription_guid: entry.subscription,
    at: moment(entry.at),
    status: entry.status,
    ...whyView(why),
    next_attempt_at: moment(nextAttemptAt),
    waiting: waiting && { since: moment(waiting.since), why: waiting.why },
    deactivation: deactivation && { at: moment(deactivation.at), rule: deactivation.rule },
    attempts: entry.attempts.map(attemptView),
  };
}

/** A delivery with all that is known of it. */
export function deliveryDetailView(entry: DeliveryEntry, request: SentRequest) {
  return {
    ...deliveryView(entry),
    attempts: entry.attempts.map((attempt) => ({ ...attemptView(attempt), answer: attempt.answer })),
    request,
    curl: asCurl(request),
  };
}

/** An attempt as its row has it, without what the receiver answered. */
export function attemptView({
  at,
  retryAt,
  why,
  subscription: _subscription,
  answer: _answer,
  ...facts
}: AttemptEntry) {
  // Only operators may know the address of a name inside their network.
  const isHidden = (member: string) => member === 'ip' && why?.reason === 'blocked_address';
  const shown = Object.entries(facts).filter(([member]) => !isHidden(member));
  const named = Object.fromEntries(shown.map(([member, value]) => [columnNameOf(member), value]));
  return { ...named, at: moment(at), ...whyView(why), retry_at: moment(retryAt) };
}

/** A reason alone: its entry may hold more. */
function whyView(why: Why | undefined) {
  return why && { reason: why.reason, meaning: why.meaning, remedy: why.remedy };
}

/** Formats a time as RFC 3339. */
export const moment = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
