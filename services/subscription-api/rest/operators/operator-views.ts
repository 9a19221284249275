/** Views for operators: those for clients, with the owner and all details. */
import type { AccountEntry } from '@waybell/delivery-log/read/accounts';
import type { AttemptEntry, DeliveryEntry, EventEntry, EventVerdict } from '@waybell/delivery-log/read/entries';
import type { SearchMatch } from '@waybell/delivery-log/read/find-anything';
import { standingAt, type Stop, type SubscriptionEntry, type Switch } from '@waybell/delivery-log/read/subscriptions';
import type { AuditNote } from '../../audit-log.ts';
import type { FailingOrigin, Undelivered } from '../../failing.ts';
import type { Interrupted, HeldBack, SwitchedOff } from '../../interrupted.ts';
import type { WaitingDestination, WaitingEndpoint } from '../../waiting-rooms.ts';
import type { WhyAnswer } from '../../why.ts';
import { attemptView, deliveryView, eventView, moment, verdictView } from '../deliveries/history-view.ts';
import { pageView } from '../http/read-query.ts';

type Accounts = ReadonlyMap<string, AccountEntry>;

/** Everything that is shown of one kind, with the names of the accounts that it is of. */
export function operatorViews(accounts: Accounts) {
  const called = (guid: string) => ({ guid, name: accounts.get(guid)?.name ?? null });

  const delivery = (entry: DeliveryEntry) => ({
    ...deliveryView(entry),
    interface: entry.interface,
    account: called(entry.account),
    client_id: entry.client,
    attempts: entry.attempts.map(wholeAttempt),
  });

  function verdict(each: EventVerdict) {
    switch (each.kind) {
      case 'delivery':
        return { kind: each.kind, delivery: delivery(each.delivery) };
      case 'suppressed':
        return {
          ...verdictView(each),
          account: each.account === undefined ? undefined : called(each.account),
          client_id: each.client,
        };
      case 'rejected':
        return { ...verdictView(each), delivery_guid: each.delivery };
    }
  }

  const event = (entry: EventEntry) => ({
    ...eventView(entry),
    interface: entry.interface,
    receivers: entry.receivers.map(called),
    verdicts: entry.verdicts.map(verdict),
  });

  const subscription = (entry: SubscriptionEntry) => ({
    guid: entry.subscription,
    account: called(entry.account),
    client_id: entry.client,
    interface: entry.interface,
    action: entry.action,
    url: entry.url,
    created_at: moment(entry.createdAt),
    ended_at: momentOrNull(entry.endedAt),
    paused_until: momentOrNull(entry.pausedUntil),
    stopped: entry.stop && stopView(entry.stop),
    standing: standingAt(entry, Infinity).kind,
    failing_since: momentOrNull(entry.failingSince),
    last_success_at: momentOrNull(entry.lastSuccessAt),
    switches: entry.switches.map(switchView),
  });

  const judged = (entry: SwitchedOff | HeldBack) => ({ ...judgedView(entry), account: called(entry.account) });

  const endpoint = (entry: WaitingEndpoint) => ({
    account: called(entry.account),
    url: entry.url,
    subscription_guids: entry.subscriptions,
    deliveries: entry.deliveries,
    is_complete: entry.isComplete,
    why: entry.why,
    ...roomView(entry),
  });

  const origin = ({ account, ...figures }: FailingOrigin) => ({ account: called(account), ...figures });

  const undelivered = ({ delivery: guid, account, action, at, attempts }: Undelivered) => ({
    guid,
    account: called(account),
    action,
    at: moment(at),
    attempts,
  });

  const interrupted = (entry: Interrupted) => ({ ...interruptedView(entry), account: called(entry.account) });

  const candidate = (found: SearchMatch) => candidateView(found, called);

  return { delivery, event, subscription, judged, endpoint, origin, undelivered, interrupted, candidate };
}

/** The view of a search for anything. */
export function answerView(answer: Exclude<WhyAnswer, { kind: 'nothing' }>) {
  const { kind } = answer;
  const views = operatorViews(answer.accounts);
  switch (kind) {
    case 'several':
      return { kind, objects: answer.candidates.map(views.candidate) };
    case 'events':
      return { kind, ...pageView(answer.page, views.event) };
    case 'delivery':
      return { kind, delivery: views.delivery(answer.delivery) };
    case 'subscription':
      return {
        kind,
        subscription: views.subscription(answer.subscription),
        deliveries: answer.latest.map(views.delivery),
      };
    case 'account': {
      const { account: guid, interface: interfaceName, name, features, closedAt } = answer.account;
      return {
        kind,
        account: { guid, interface: interfaceName, name, features, closed_at: momentOrNull(closedAt) },
        subscriptions: answer.subscriptions.filter(({ endedAt }) => endedAt === null).map(views.subscription),
        deliveries: answer.latest.map(views.delivery),
      };
    }
  }
}

export const stopView = ({ at, reason }: Stop) => ({ at: moment(at), reason });

export function changeView({ account_guid: guid, account_name: name, by, ...note }: AuditNote) {
  const author = by && { account: { guid: by.account_guid, name: by.account_name }, client_id: by.client_id };
  return { ...note, by: author, account: guid && { guid, name } };
}

/** With the address that was connected to, wherever it is. */
const wholeAttempt = (entry: AttemptEntry) => ({
  ...attemptView(entry),
  subscription_guid: entry.subscription,
  ip: entry.ip,
  answer: entry.answer,
});

const judgedView = (entry: SwitchedOff | HeldBack) => ({
  guid: entry.subscription,
  client_id: entry.client,
  interface: entry.interface,
  action: entry.action,
  url: entry.url,
  created_at: moment(entry.createdAt),
  ...('heldAt' in entry ? { held_at: moment(entry.heldAt) } : { switched_off_at: moment(entry.switchedOffAt) }),
  rule: entry.rule,
  delivery_guid: entry.delivery,
});

const interruptedView = ({ subscription: guid, client, since, until, ...entry }: Interrupted) => ({
  guid,
  client_id: client,
  ...entry,
  since: momentOrNull(since),
  until: momentOrNull(until),
});

const switchView = (each: Switch) =>
  each.isOn ? { at: moment(each.at), is_on: true } : { at: moment(each.at), is_on: false, rule: each.rule };

export const destinationView = (entry: WaitingDestination) => ({
  service: entry.service,
  exchange: entry.exchange,
  routing_key: entry.routingKey,
  publications: entry.publications,
  ...roomView(entry),
});

const roomView = ({ bytes, oldestAt, shutSince, isClaimed, nextTryAt }: WaitingEndpoint | WaitingDestination) => ({
  bytes,
  oldest_at: moment(oldestAt),
  shut_since: momentOrNull(shutSince),
  is_claimed: isClaimed,
  next_try_at: momentOrNull(nextTryAt),
});

/** Formats a time; null if there is none. */
export const momentOrNull = (at: number | null) => (at === null ? null : moment(at));

type Called = (account: string) => { guid: string; name: string | null };

/** One of several things that a text may mean, with the names of accounts. */
function candidateView(found: SearchMatch, called: Called) {
  const { kind } = found;
  const at = moment(found.at);
  switch (kind) {
    case 'key':
      return { kind, key: found.key, key_kind: found.keyKind, events: found.events, at };
    case 'account':
      return { kind, guid: found.account, interface: found.interface, name: found.name, at };
    case 'event':
      return { kind, guid: found.event, ...madeOf(found), at };
    case 'delivery':
      return { kind, guid: found.delivery, ...ownedBy(found, called), ...madeOf(found), at };
    case 'subscription':
      return { kind, guid: found.subscription, ...ownedBy(found, called), ...madeOf(found), url: found.url, at };
  }
}

const madeOf = ({ interface: interfaceName, action }: Extract<SearchMatch, { action: string }>) => ({
  interface: interfaceName,
  action,
});

const ownedBy = ({ account, client }: { account: string; client: string }, called: Called) => ({
  account: called(account),
  client_id: client,
});
