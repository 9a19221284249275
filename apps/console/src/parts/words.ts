/** The page's words for what the API names otherwise. A test checks each table completely. */

/** A colour means one thing: arrived, to be retried, needs a person, anything else. */
type Tone = 'good' | 'retry' | 'bad' | 'neutral';

type StatusStyle = { tone: Tone; mark: string };

const styled = (tone: Tone, mark: string, ...names: string[]): [string, StatusStyle][] =>
  names.map((name) => [name, { tone, mark }]);

const STYLES: ReadonlyMap<string, StatusStyle> = new Map([
  ...styled('good', '✓', 'delivered', 'active', 'valid', 'done', 'created', 'changed', 'ready', 'running'),
  ...styled('retry', '↻', 'failed', 'retrying'),
  ...styled('retry', '!', 'not answering'),
  ...styled(
    'bad',
    '✕',
    'exhausted',
    'dropped',
    'rejected',
    'refused',
    'switched off',
    'shut',
    'not known',
    'not running',
  ),
  ...styled('bad', '■', 'stopped'),
  ...styled('neutral', '…', 'waiting', 'begun', 'open', 'not known yet'),
  ...styled('neutral', '‖', 'paused', 'suspended'),
]);

const OTHER: StatusStyle = { tone: 'neutral', mark: '–' };

/** The colour and the mark of a status. */
export const styleOf = (status: string): StatusStyle => STYLES.get(status) ?? OTHER;

const STATUSES: Readonly<Record<string, string>> = {
  exhausted: 'given up',
  suppressed: 'not sent',
  'not answering': 'does not answer',
};

/** The word for people of a status or an outcome, such as `given up` for `exhausted`. */
export const statusWord = (of: string): string => STATUSES[of] ?? of;

const RULES: Readonly<Record<string, string>> = {
  exhausted: 'a delivery was given up',
  window: 'all attempts failed for too long',
};

/** For people, why a rule switched a subscription off. */
export const ruleInWords = (rule: string): string => RULES[rule] ?? rule;

/** Outcomes counted by the hour, in the order in which they are drawn. */
export const HEALTH = {
  delivered: 'delivered',
  retried: 'retried',
  given_up: 'given up',
  suppressed: 'not sent',
} as const;

/** Why deliveries wait: as the end of a sentence for the client, and in a list for operators. */
export const WAITING = {
  full: ['its endpoint answers, and takes no more at once.', 'at its limit of open requests'],
  hung: ['its endpoint does not answer.', 'not answering'],
  busy: ['its endpoint said that it was too much (429 or 503).', 'answered 429 or 503'],
  paused: ['its subscription is paused by its client.', 'paused by the client'],
  stopped: ['its subscription, or its host, is stopped by the operator.', 'stopped by an operator'],
  egress: ["Waybell's own network has no way out.", 'our network has no way out'],
  open: ['a request of it is under way.', 'request under way'],
} as const satisfies Record<string, readonly [toClient: string, toOperators: string]>;

/** Attempts that were requested by hand. */
export const BY_HAND = { resend: 'Resend', test: 'Test' } as const;

/** The states of the feed. */
export const FEED = { connecting: 'Connecting …', live: 'Live', broken: 'Interrupted' } as const;

/** The filters of the list of deliveries. */
export const FILTERS = {
  status: 'Status',
  action: 'Action',
  subscription: 'Subscription',
  endpoint: 'Endpoint',
  reason: 'Reason',
  key: 'Key',
  guid: 'Guid',
  since: 'From',
  until: 'To',
  account: 'Account',
  client: 'Client',
} as const;

/** The scopes of access tokens, and what they permit. */
export const SCOPES = {
  'webhooks:read': 'see subscriptions and deliveries',
  'webhooks:write': 'change subscriptions, test, resend and replay',
  admin: "the operators' interface",
} as const;

const HOUR_MS = 3_600_000;

/** Lengths of a pause, in milliseconds. */
export const PAUSES = {
  '15 minutes': HOUR_MS / 4,
  '1 hour': HOUR_MS,
  '4 hours': 4 * HOUR_MS,
  '12 hours': 12 * HOUR_MS,
} as const;

/** How far back a replay goes, in milliseconds. */
export const REPLAYS = {
  'Last hour': HOUR_MS,
  'Last 6 hours': 6 * HOUR_MS,
  'Last 24 hours': 24 * HOUR_MS,
  'Last 3 days': 72 * HOUR_MS,
  'Last 7 days': 168 * HOUR_MS,
} as const;

/** The last stretches of time in which failures are counted, in milliseconds. */
export const STRETCHES = { '15 minutes': HOUR_MS / 4, '1 hour': HOUR_MS, '24 hours': 24 * HOUR_MS } as const;

/** Such as `1 message`, `2,000 messages` or `2 matches`. */
export const counted = (count: number, what: string, many = `${what}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? what : many}`;
