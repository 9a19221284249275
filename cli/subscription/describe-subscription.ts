import { ruleInWords } from '../in-words.ts';

/** A subscription as the API answers it. */
export type SubscriptionAnswer = {
  guid: string;
  action: string;
  callback_url: string;
  is_active: boolean;
  deactivation?: { at: string; rule: string };
  suspension?: { reason: string; feature: string };
  paused_until?: string;
  stopped?: { at: string; reason: string };
  missed?: { since: string; until: string; count?: number };
};

/** On one line: its action, guid and URL, and how it stands. */
export function describeSubscription(subscription: SubscriptionAnswer): string {
  const { guid, action, callback_url: url } = subscription;
  return [action, guid, url, ...standingOf(subscription)].join('  ');
}

function standingOf({
  is_active: isActive,
  deactivation,
  suspension,
  paused_until: pausedUntil,
  stopped,
  missed,
}: SubscriptionAnswer): string[] {
  const off =
    deactivation === undefined
      ? 'switched off'
      : `switched off since ${deactivation.at} (${ruleInWords(deactivation.rule)})`;
  return [
    isActive ? 'on' : off,
    ...(suspension === undefined ? [] : [`nothing is sent without the feature ${suspension.feature}`]),
    ...(pausedUntil === undefined ? [] : [`paused until ${pausedUntil}`]),
    ...(stopped === undefined ? [] : [`stopped by the operator since ${stopped.at}: ${stopped.reason}`]),
    ...(missed === undefined ? [] : [`missed from ${missed.since} to ${missed.until}${countOf(missed)}`]),
  ];
}

const countOf = ({ count }: { count?: number }): string => (count === undefined ? '' : `: ${count}`);
