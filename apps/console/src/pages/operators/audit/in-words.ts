import { writtenHere } from '../../../parts/moment.tsx';
import type { Change } from '../types.ts';

type Details = Change['details'];

/** A change as people say it, such as `Switched off: a delivery was given up`. */
export function inWords(change: Pick<Change, 'what' | 'details' | 'callback_origin_before'>): string {
  const [kind = '', verb = ''] = change.what.split('.');
  const sent = SENT[kind];
  if (sent !== undefined) return `${sent}${ofAction(change.details)}`;
  const name = KINDS[kind] ?? kind;
  if (verb === 'changed') {
    const said = changesOf(kind, change);
    return said.length === 0 ? `Changed ${name}` : said.join(', ');
  }
  const done = VERBS[verb] ?? verb;
  return `${done} ${name}${verb === 'created' ? moreOf(kind, change.details) : ''}`;
}

const KINDS: Readonly<Record<string, string>> = {
  account: 'account',
  token: 'access token',
  subscription: 'subscription',
  'signing-secret': 'signing secret',
  credentials: 'credentials',
  host: 'host',
  replay: 'replay',
};

/** By hand. */
const SENT: Readonly<Record<string, string>> = { resend: 'Resent a delivery', test: 'Sent a test' };

const VERBS: Readonly<Record<string, string>> = {
  created: 'Created',
  deleted: 'Deleted',
  stopped: 'Stopped',
  started: 'Started',
};

const RULES: Readonly<Record<string, string>> = {
  exhausted: 'a delivery was given up',
  window: 'all attempts failed for too long',
};

/** What each new value says. */
function changesOf(
  kind: string,
  { details, callback_origin_before: before }: Pick<Change, 'details' | 'callback_origin_before'>,
): string[] {
  const said: string[] = [];
  const has = (name: string) => name in details;
  const text = (name: string) => String(details[name] ?? '');
  const isEnded = has('ended_at') && details['ended_at'] !== null;
  if (isEnded) said.push('Unsubscribed');
  else if (has('is_active')) said.push(switchOf(details));
  if (has('callback_origin'))
    said.push(`URL changed ${before === null ? '' : `from ${before} `}to ${text('callback_origin')}`);
  if (has('paused_until'))
    said.push(details['paused_until'] === null ? 'Resumed' : `Paused until ${writtenHere(text('paused_until'))}`);
  if (has('stopped_at')) said.push(details['stopped_at'] === null ? 'Started' : `Stopped: ${text('stopped_reason')}`);
  else if (has('stopped_reason')) said.push(`Stop reason changed to ${text('stopped_reason')}`);
  if (has('audit_field_set')) said.push('Audit fields changed');
  if (has('cancelled_at')) said.push('Cancelled replay');
  if (has('revoked_at')) said.push('Revoked access token');
  if (has('name')) said.push(details['name'] === null ? 'Name removed' : `Named ${text('name')}`);
  if (has('features')) said.push(`Features: ${listed(details['features'])}`);
  if (has('expires_at') && kind === 'signing-secret') said.push('Rotated signing secret');
  if (said.length === 0 && has('generation')) said.push('Subscribed again');
  return said;
}

function switchOf(details: Details): string {
  if (details['is_active'] === true) return 'Switched on';
  const rule = String(details['deactivation_rule'] ?? '');
  return rule === '' ? 'Switched off' : `Switched off: ${RULES[rule] ?? rule}`;
}

function moreOf(kind: string, details: Details): string {
  const { callback_origin: url, since, until } = details;
  if (kind === 'subscription' && typeof url === 'string') return ` to ${url}`;
  if (kind !== 'replay' || typeof since !== 'string' || typeof until !== 'string') return '';
  return `${ofAction(details)} from ${writtenHere(since)} to ${writtenHere(until)}`;
}

const ofAction = ({ action }: Details): string => (typeof action === 'string' ? ` of ${action}` : '');

const listed = (names: unknown): string => (Array.isArray(names) && names.length > 0 ? names.join(', ') : 'none');
