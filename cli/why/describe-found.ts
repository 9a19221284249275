import type { AccountEntry } from '@waybell/delivery-log/read/accounts';
import { MOST_COUNTED } from '@waybell/delivery-log/read/find-anything';
import type { FoundKey, SearchMatch } from '@waybell/delivery-log/read/search-match';
import type { SubscriptionEntry, Switch } from '@waybell/delivery-log/read/subscriptions';
import { accountCalled, type NameOfAccount } from '../account-called.ts';
import { ruleInWords } from '../rule-in-words.ts';
import { timeOf } from './describe-history.ts';

/** One of several things that a text may mean, and the command that asks for it. */
export function describeCandidate(found: SearchMatch, text: string): string {
  if (found.kind === 'key') {
    const word = /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
    const count = found.events === MOST_COUNTED ? `${MOST_COUNTED} events or more` : `${found.events} events`;
    return `${found.keyKind}: ${count}, the last at ${timeOf(found.at)}  ./waybell why --subject ${word} --kind ${found.keyKind}`;
  }
  return `${found.kind}: ${whatOf(found)}  ./waybell why --${found.kind} ${guidOf(found)}`;
}

type FoundByGuid = Exclude<SearchMatch, FoundKey>;

function whatOf(found: FoundByGuid): string {
  if (found.kind === 'account') return found.name ?? found.interface;
  const at = found.kind === 'subscription' ? `, to ${found.url},` : '';
  return `${found.interface} ${found.action}${at} of ${timeOf(found.at)}`;
}

function guidOf(found: FoundByGuid): string {
  switch (found.kind) {
    case 'account':
      return found.account;
    case 'event':
      return found.event;
    case 'delivery':
      return found.delivery;
    case 'subscription':
      return found.subscription;
  }
}

/** A subscription and how it stood, as lines for a terminal. */
export function describeSubscription(entry: SubscriptionEntry, nameOf: NameOfAccount): string[] {
  const { subscription, account, client, interface: interfaceName, action, url, createdAt, endedAt, switches } = entry;
  return [
    `subscription ${subscription}: ${interfaceName} ${action}, ${standingOf(entry)}`,
    `  of ${accountCalled(account, nameOf)}, client ${client}, to ${url}`,
    `  ${timeOf(createdAt)}  subscribed`,
    ...switches.map((each) => `  ${timeOf(each.at)}  ${describeSwitch(each)}`),
    ...(endedAt === null ? [] : [`  ${timeOf(endedAt)}  ended`]),
    ...(entry.lastSuccessAt === null ? [] : [`  ${timeOf(entry.lastSuccessAt)}  last success`]),
  ];
}

/** An account and its subscriptions, current ones first, as lines for a terminal. */
export function describeAccount(entry: AccountEntry, subscriptions: readonly SubscriptionEntry[]): string[] {
  const { account, name, interface: interfaceName, features, createdAt, closedAt } = entry;
  const closed = closedAt === null ? '' : `, closed since ${timeOf(closedAt)}`;
  const current = subscriptions.filter(({ endedAt }) => endedAt === null);
  const ended = subscriptions.length - current.length;
  return [
    `${accountCalled(account, () => name ?? undefined)}: ${interfaceName}, features: ${features.join(', ') || 'none'}, since ${timeOf(createdAt)}${closed}`,
    ...current.map(
      (each) =>
        `  ${each.action}, client ${each.client}: ${standingOf(each)}, to ${each.url} (subscription ${each.subscription})`,
    ),
    ...(current.length === 0 ? ['  no subscription'] : []),
    ...(ended === 0 ? [] : [`  ended subscriptions: ${ended}`]),
  ];
}

function standingOf({ endedAt, switches }: SubscriptionEntry): string {
  if (endedAt !== null) return `ended at ${timeOf(endedAt)}`;
  const last = switches.at(-1);
  return last === undefined || last.isOn ? 'on' : `switched off since ${timeOf(last.at)} (${ruleInWords(last.rule)})`;
}

const describeSwitch = (each: Switch): string =>
  each.isOn ? 'switched on' : `switched off (${ruleInWords(each.rule)})`;
