import type { LiveKind } from '@waybell/contracts/openapi/live-paths';
import type { LiveEntry } from './latest-entries.ts';
import { attemptView, eventView, verdictView } from '../deliveries/history-view.ts';
import type { Placed } from './position.ts';

/** One thing that happened, as streams tell it. */
export type LiveRecord = Placed & {
  /** Null of what several actions have in common. */
  action: string | null;
  kind: LiveKind;
  event: 'attempt' | 'suppressed' | 'notice';
  data: string;
};

export function liveRecord(entry: LiveEntry): LiveRecord {
  const { key, at } = entry;
  if (entry.kind === 'attempt') {
    const { attempt, action } = entry;
    // An attempt is of one of these kinds.
    const kind = attempt.kind as LiveKind;
    return { key, at, action, kind, event: 'attempt', data: JSON.stringify(attemptData(entry)) };
  }
  if (entry.kind === 'notice') {
    // The account's name is for operators only.
    const { account_name: _, ...notice } = entry.notice;
    return { key, at, action: notice.action, kind: 'notice', event: 'notice', data: JSON.stringify(notice) };
  }
  const { verdicts: _, ...event } = eventView(entry.event);
  const data = JSON.stringify({ ...event, ...verdictView(entry.verdict) });
  return { key, at, action: event.action, kind: 'suppressed', event: 'suppressed', data };
}

function attemptData(entry: LiveEntry & { kind: 'attempt' }) {
  return {
    delivery_guid: entry.delivery,
    event_guid: entry.event,
    action: entry.action,
    keys: entry.keys,
    subscription_guid: entry.subscription,
    callback_url: entry.callbackUrl,
    attempt: attemptView(entry.attempt),
  };
}
