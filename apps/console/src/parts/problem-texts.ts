/** The pages with a remedy, and the texts of the links to them. */
export const WAYS = {
  subscriptions: 'Open subscriptions',
  credentials: 'Open credentials',
  catalog: 'Open the catalog',
  deliveries: 'Open deliveries',
  accounts: 'Open accounts',
  rejected: 'Open rejected',
} as const;

/** The page with the remedy: one of the console, or the sign-in. */
export type WayOn = keyof typeof WAYS | 'sign-in';

/** The page's texts for a problem; without `help`, the API's own text follows the title. */
export type ProblemText = { title: string; help: string; way?: WayOn };

const TEXTS: Readonly<Record<string, ProblemText>> = {
  unreachable: {
    title: 'No connection',
    help: 'Waybell is not responding. Check your connection; this page keeps trying.',
  },
  'too-many-requests': { title: 'Too many requests', help: '' },
  unavailable: { title: 'Temporarily unavailable', help: '' },
  'internal-error': {
    title: 'Something went wrong',
    help: 'The error was logged. Support finds it by the request under Details.',
  },
  'request-timeout': { title: 'Timed out', help: 'The request took too long. Try again.' },
  unauthenticated: { title: 'Signed out', help: 'Sign in to continue.', way: 'sign-in' },
  'invalid-token': { title: 'Signed out', help: 'Your access token expired or was revoked.', way: 'sign-in' },
  'other-interface': {
    title: 'Wrong interface',
    help: 'Your access token is for the other interface.',
    way: 'sign-in',
  },
  'insufficient-scope': {
    title: 'Not permitted',
    help: 'Your access token does not have the scope for this.',
    way: 'sign-in',
  },
  'invalid-body': { title: 'Check your input', help: '' },
  'invalid-parameter': { title: 'Check your input', help: '' },
  'body-too-large': { title: 'Too large', help: 'The text is longer than Waybell accepts.' },
  'unknown-path': { title: 'Not available', help: 'This server does not offer it: its version may be another one.' },
  'unknown-action': { title: 'Unknown action', help: 'Waybell does not offer this action.', way: 'catalog' },
  'not-subscribed': { title: 'Not subscribed', help: 'The subscription has ended.', way: 'subscriptions' },
  'unknown-delivery': {
    title: 'Delivery not found',
    help: 'It belongs to another client, or the log no longer has it.',
    way: 'deliveries',
  },
  'unknown-replay': { title: 'Replay not found', help: 'It belongs to another client, or the log no longer has it.' },
  'unknown-credentials': {
    title: 'No credentials for this host',
    help: 'They may have been removed already.',
    way: 'credentials',
  },
  'too-many-credentials': {
    title: 'Too many hosts',
    help: 'Remove credentials that are no longer used.',
    way: 'credentials',
  },
  'unknown-account': { title: 'Account not found', help: 'Waybell has no account with this guid.', way: 'accounts' },
  'unknown-client': { title: 'Client not found', help: 'The account has no client with this id.', way: 'accounts' },
  'invalid-link': {
    title: 'Link no longer valid',
    help: 'It was opened before or has expired. Ask for a new one.',
  },
  'account-exists': {
    title: 'Account exists',
    help: 'Another account has this guid. Choose another one, or leave it empty.',
  },
  'account-closed': { title: 'Account closed', help: 'Open it again on its page first.', way: 'accounts' },
  'unknown-token': { title: 'Token not found', help: 'It may have been revoked already.' },
  'nothing-known': { title: 'Nothing found', help: 'Nothing in the log mentions it, or it is older than the log.' },
  'no-longer-kept': { title: 'No longer stored', help: 'The log does not reach back that far.' },
  'feature-off': {
    title: 'Feature not enabled',
    help: 'The account does not have the feature that this action needs. Ask the operator to enable it.',
  },
  'under-way': { title: 'Still in progress', help: 'Resend the delivery once its attempts are over.' },
  'was-a-test': { title: 'A test cannot be resent', help: 'Send a new test.', way: 'subscriptions' },
  'body-gone': {
    title: 'Content no longer stored',
    help: 'Ask the platform to publish the event again.',
  },
  'nothing-missed': { title: 'Nothing missed', help: 'A replay may be sending it already.', way: 'subscriptions' },
  'switched-off': { title: 'Subscription switched off', help: 'Switch it on first.', way: 'subscriptions' },
  stopped: { title: 'Stopped by the operator', help: 'Deliveries wait until the operator starts it.' },
  'not-stopped': { title: 'Not stopped', help: 'It has been started already.' },
  'nobody-subscribed': {
    title: 'No subscription',
    help: 'Subscribe to the action first.',
    way: 'subscriptions',
  },
  'already-subscribed': { title: 'Already subscribed', help: 'Edit the subscription instead.', way: 'subscriptions' },
  'rotation-under-way': { title: 'Rotation in progress', help: 'The old secret is still valid.' },
  'unknown-rejected': {
    title: 'No longer rejected',
    help: 'The message was published, retried or deleted meanwhile.',
    way: 'rejected',
  },
  'several-rejected': { title: 'Several messages match', help: 'Choose one of them.', way: 'rejected' },
  'not-an-event': { title: 'Not an event', help: 'It cannot be corrected: retry or delete it.' },
  'rejected-taken': { title: 'In use', help: 'Another request is reading the rejected messages. Try again shortly.' },
  'no-broker': { title: 'No access to RabbitMQ', help: 'Set ADMIN_AMQP_URL for this server.' },
};

/** The page's words for a kind of problem, such as `switched-off`; undefined where it has none. */
export const textOfProblem = (kind: string): ProblemText | undefined =>
  Object.hasOwn(TEXTS, kind) ? TEXTS[kind] : undefined;

/** The kinds of problems that the page has words for. */
export const problemsWithText: readonly string[] = Object.keys(TEXTS);

const FIELDS: Readonly<Record<string, string>> = {
  callback_url: 'URL',
  actions: 'Actions',
  audit_field_set: 'Fields',
  per_second: 'Rate',
  since: 'From',
  until: 'Until',
  expires_in: 'Expiry',
  client_id: 'Client',
  guid: 'Guid',
  name: 'Name',
  reason: 'Reason',
  scopes: 'Scopes',
  features: 'Features',
  host: 'Host',
};

/** The name of the field that a fault is about, by its JSON Pointer or parameter; undefined where the page has none for it. */
export const fieldOf = (place: string): string | undefined => FIELDS[place.replace(/^#\//, '').split('/')[0] ?? ''];

/** A fault as it stands beside its field, such as `Is not https.` */
export function asSentence(fault: string): string {
  const begun = fault.charAt(0).toUpperCase() + fault.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
