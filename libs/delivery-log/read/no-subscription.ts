/** Explains why an event had no subscription: what `no_subscription` means for an account or for one of its API clients. */
import type { NoSubscriptionCause } from '@waybell/line/reasons';
import type { Queryable } from '@waybell/runtime/postgres';
import { accountsOf } from './accounts.ts';
import { standingAt, subscriptionsOf, type Standing, type SubscriptionEntry } from './subscriptions.ts';

/** Times are milliseconds since the epoch. */
export type NoSubscription = {
  cause: NoSubscriptionCause;
  /** The subscription that was off, had ended, or came later. */
  subscription?: string;
  /** When it was switched off, ended, or came. */
  at?: number;
  /** The rule that switched it off. */
  rule?: string;
};

/** An event of which an account, or the given client of it, got nothing. */
export type Unsent = { account: string; client?: string | undefined; action: string; at: number };

/**
 * The router reads subscriptions shortly before it records the time, and its clock may differ: a subscription made or switched on within this
 * time before does not count.
 */
const MOMENT_MS = 5_000;

/** Returns the causes in the same order. */
export async function whyNoSubscription(postgres: Queryable, unsent: readonly Unsent[]): Promise<NoSubscription[]> {
  const accounts = await accountsOf(
    postgres,
    unsent.map(({ account }) => account),
  );
  const known = new Map<string, SubscriptionEntry[]>();
  const found: NoSubscription[] = [];
  for (const each of unsent) {
    const account = accounts.get(each.account);
    const { action, client } = each;
    const name = [each.account, action, client].join(' ');
    const asked = { account: each.account, client, action };
    const subscriptions = account === undefined ? [] : (known.get(name) ?? (await subscriptionsOf(postgres, asked)));
    known.set(name, subscriptions);
    const isKnown = account !== undefined && account.createdAt <= each.at + MOMENT_MS;
    const cause = causeOf(subscriptions, each.at);
    const isNone = cause === undefined || cause.cause === 'never_subscribed';
    found.push(isNone && !isKnown ? { cause: 'unknown_account' } : (cause ?? { cause: 'never_subscribed' }));
  }
  return found;
}

/**
 * Explains why none of these subscriptions, newest first, was on at a time; `never_subscribed` if there are none. Undefined if
 * one was on.
 */
export function causeOf(subscriptions: readonly SubscriptionEntry[], at: number): NoSubscription | undefined {
  const standings = subscriptions.map((each) => ({ each, standing: standingAt(each, at) }));
  for (const { each, standing } of standings) {
    const { subscription } = each;
    const off = standing.kind === 'active' ? offJustBefore(each, at) : standing;
    if (off?.kind === 'switched_off') return { cause: 'switched_off', subscription, at: off.since, rule: off.rule };
    if (standing.kind === 'active' && at - each.createdAt < MOMENT_MS)
      return { cause: 'subscribed_later', subscription, at: each.createdAt };
  }
  if (standings.some(({ standing }) => standing.kind === 'active')) return undefined;
  const ended = standings.find(({ standing }) => standing.kind === 'ended');
  if (ended?.standing.kind === 'ended')
    return { cause: 'ended', subscription: ended.each.subscription, at: ended.standing.at };
  const later = standings.findLast(({ standing }) => standing.kind === 'not_yet');
  if (later === undefined) return { cause: 'never_subscribed' };
  return { cause: 'subscribed_later', subscription: later.each.subscription, at: later.each.createdAt };
}

/** The state before a switch that was on for less than a moment, however short that state was. */
function offJustBefore({ switches, ...each }: SubscriptionEntry, at: number): Standing | undefined {
  const place = switches.findLastIndex((one) => one.at <= at);
  const on = switches[place];
  return on?.isOn && at - on.at < MOMENT_MS
    ? standingAt({ ...each, switches: switches.slice(0, place) }, at)
    : undefined;
}

/**
 * Returns the time ranges, in milliseconds since the epoch, in which none of these subscriptions was on; `until` is exclusive.
 */
export function stretchesWithout(
  subscriptions: readonly SubscriptionEntry[],
  { sinceMs, untilMs }: { sinceMs: number; untilMs: number },
): { from: number; until: number }[] {
  const changes = subscriptions.flatMap(({ createdAt, endedAt, switches }) => [
    createdAt,
    createdAt + MOMENT_MS,
    ...(endedAt === null ? [] : [endedAt]),
    ...switches.flatMap(({ at }) => [at, at + MOMENT_MS]),
  ]);
  const within = changes.filter((at) => at > sinceMs && at < untilMs);
  const bounds = [...new Set([sinceMs, ...within, untilMs])].toSorted((one, other) => one - other);
  // Between two changes, every state is the one at the first of them.
  return bounds
    .slice(1)
    .map((until, place) => ({ from: bounds[place] ?? sinceMs, until }))
    .filter(({ from }) => causeOf(subscriptions, from) !== undefined);
}
