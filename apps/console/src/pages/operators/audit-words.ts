import { ruleInWords } from '../../parts/words.ts';
import type { Change } from './types.ts';

type Details = Readonly<Record<string, unknown>>;
type WordedChange = Pick<Change, 'what' | 'callback_origin_before'> & { details: Details };
/** Writes a time for people. */
type Written = (at: string) => string;

/** A change in words, such as `Switched off: a delivery was given up`; a kind that has no words, as the audit log calls it. */
export function inWords(change: WordedChange, written: Written): string {
  const { what, details } = change;
  const [kind = '', verb = ''] = what.split('.');
  const sent = SENT[kind];
  if (sent !== undefined) return `${sent}${ofAction(details)}`;
  const phrases = verb === 'changed' ? valuesOf(change, written) : [];
  if (phrases.length > 0) return phrases.join(', ');
  const [name, done] = [KINDS[kind], VERBS[verb]];
  if (name === undefined || done === undefined) return what;
  return `${done} ${name}${verb === 'created' ? moreOf(kind, details, written) : ''}`;
}

const KINDS: Readonly<Record<string, string>> = {
  account: 'account',
  token: 'access token',
  subscription: 'subscription',
  'signing-secret': 'signing secret',
  credentials: 'credentials',
  host: 'host',
  replay: 'replay',
  'console-link': 'console link',
};

const VERBS: Readonly<Record<string, string>> = {
  created: 'Created',
  changed: 'Changed',
  deleted: 'Deleted',
  stopped: 'Stopped',
  started: 'Started',
};

/** The words for deliveries sent by hand. */
const SENT: Readonly<Record<string, string>> = { resend: 'Resent a delivery', test: 'Sent a test' };

type Say = (value: unknown, change: WordedChange, written: Written) => string | undefined;

/** The words for new values, in the order in which they appear. */
const VALUES: Readonly<Record<string, Say>> = {
  ended_at: (value) => (value === null ? undefined : 'Unsubscribed'),
  is_active: (value, { details }) =>
    (details['ended_at'] ?? null) !== null ? undefined : value === true ? 'Switched on' : switchedOff(details),
  callback_origin: (value, { callback_origin_before: before }) =>
    `URL changed ${before === null ? '' : `from ${before} `}to ${text(value)}`,
  paused_until: (value, _change, written) => (value === null ? 'Resumed' : `Paused until ${written(text(value))}`),
  stopped_at: (value, { details }) => (value === null ? 'Started' : `Stopped: ${text(details['stopped_reason'])}`),
  audit_field_set: () => 'Audit fields changed',
  cancelled_at: () => 'Cancelled replay',
  link_opened_at: () => 'Opened console link',
  revoked_at: () => 'Revoked access token',
  name: (value) => (value === null ? 'Name removed' : `Named ${text(value)}`),
  features: (value) => `Features: ${listed(value)}`,
  expires_at: (_value, { what }) => (what.startsWith('signing-secret') ? 'Rotated signing secret' : undefined),
};

function valuesOf(change: WordedChange, written: Written): string[] {
  const { details } = change;
  const phrases = Object.entries(VALUES).flatMap(([name, say]) =>
    name in details ? (say(details[name], change, written) ?? []) : [],
  );
  return phrases.length === 0 && 'generation' in details ? ['Subscribed again'] : phrases;
}

function switchedOff({ deactivation_rule: rule }: Details): string {
  return typeof rule === 'string' ? `Switched off: ${ruleInWords(rule)}` : 'Switched off';
}

function moreOf(kind: string, details: Details, written: Written): string {
  const { callback_origin: url, since, until } = details;
  if (kind === 'subscription' && typeof url === 'string') return ` to ${url}`;
  if (kind !== 'replay' || typeof since !== 'string' || typeof until !== 'string') return '';
  return `${ofAction(details)} from ${written(since)} to ${written(until)}`;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const ofAction = ({ action }: Details): string => (typeof action === 'string' ? ` of ${action}` : '');
const listed = (names: unknown): string => (Array.isArray(names) && names.length > 0 ? names.join(', ') : 'none');
