/**
 * Answers of operations: success, and problems. Traits of an operation, such as that it needs a token, imply most of its
 * problems; each problem has an example.
 */
import { problemKinds, problemType, type ProblemKind } from '@waybell/contracts/problem-kinds';
import { headerRef, jsonOf, schemaRef, type JsonNode } from './json-node.ts';

/** Problems that every operation can answer with. */
const EVERYWHERE: readonly ProblemKind[] = ['internal-error'];
const ANY_SCOPE: readonly ProblemKind[] = ['unauthenticated', 'invalid-token', 'too-many-requests', 'unavailable'];
const ANY_INTERFACE: readonly ProblemKind[] = [...ANY_SCOPE, 'insufficient-scope'];
const WITH_TOKEN: readonly ProblemKind[] = [...ANY_INTERFACE, 'other-interface'];
const WITH_BODY: readonly ProblemKind[] = [
  'invalid-json',
  'malformed-request',
  'body-too-large',
  'unsupported-media-type',
  'invalid-body',
];
const WITH_ACTION: readonly ProblemKind[] = ['malformed-request', 'unknown-action'];

const WITH_PARAMETERS: readonly ProblemKind[] = ['malformed-request', 'invalid-parameter'];

/** `token`: of the operation's interface; `any-interface`: of either; `any-scope`: that too, whatever it may do. */
export type Trait = 'token' | 'any-interface' | 'any-scope' | 'body' | 'action' | 'parameters';

const BY_TRAIT: Record<Trait, readonly ProblemKind[]> = {
  token: WITH_TOKEN,
  'any-interface': ANY_INTERFACE,
  'any-scope': ANY_SCOPE,
  body: WITH_BODY,
  action: WITH_ACTION,
  parameters: WITH_PARAMETERS,
};

/** The problems that these traits of an operation imply, and others that it has, as responses by status. */
export function problemAnswers(
  traits: readonly Trait[],
  others: readonly ProblemKind[] = [],
): Record<string, JsonNode> {
  const kinds = new Set([...traits.flatMap((trait) => BY_TRAIT[trait]), ...others, ...EVERYWHERE]);
  const byStatus = Map.groupBy(kinds, (kind) => problemKinds[kind][0]);
  const answers = [...byStatus].map(([status, ofStatus]): [string, JsonNode] => [
    String(status),
    problemAnswer(ofStatus, traits.includes('action') && status !== 401 && status !== 403 ? deprecationHeaders : {}),
  ]);
  return Object.fromEntries(answers);
}

export function problemAnswer(kinds: readonly ProblemKind[], headers: JsonNode = {}): JsonNode {
  const titles = kinds.map((kind) => `${problemKinds[kind][1]} (\`${problemType(kind)}\`)`);
  const status = kinds[0] === undefined ? 500 : problemKinds[kinds[0]][0];
  const schema = {
    ...schemaRef('Problem'),
    properties: { type: { enum: kinds.map(problemType) }, status: { const: status } },
  };
  return {
    description: `${titles.join(' · ')}.`,
    headers: { 'x-request-id': headerRef('RequestId'), ...headersOf(status), ...headers },
    content: { 'application/problem+json': { schema, examples: problemExamples(kinds) } },
  };
}

/** The answer of an operation that succeeds. */
export function success(description: string, schema: JsonNode | null, headers: JsonNode = {}): JsonNode {
  return {
    description,
    headers: { 'x-request-id': headerRef('RequestId'), ...limitHeaders, ...headers },
    ...(schema === null ? {} : { content: jsonOf(schema) }),
  };
}

/** Headers of every answer about an action that is deprecated. */
export const deprecationHeaders: JsonNode = { deprecation: headerRef('Deprecation'), sunset: headerRef('Sunset') };

const limitHeaders: JsonNode = {
  ratelimit: headerRef('RateLimit'),
  'ratelimit-policy': headerRef('RateLimitPolicy'),
};

function headersOf(status: number): JsonNode {
  if (status === 401 || status === 403) return { 'www-authenticate': challenge };
  if (status === 405) return { allow: headerRef('Allow') };
  if (status === 429) return { 'retry-after': headerRef('RetryAfter'), ...limitHeaders };
  return status === 503 ? { 'retry-after': headerRef('RetryAfter') } : {};
}

const challenge = {
  required: true,
  description: 'What is wrong with the token, as RFC 6750 says; names the scope that is missing.',
  schema: { type: 'string', pattern: '^Bearer realm="waybell"' },
};

/** An example of `detail` for each kind. */
const DETAILS: Record<ProblemKind, string> = {
  'invalid-json': 'The body is not valid JSON: the body (character 1): the body is empty.',
  'malformed-request': 'The path is not valid percent-encoding.',
  unauthenticated: 'Send the header "Authorization: Bearer <access token>".',
  'invalid-token': 'The access token expired.',
  'other-interface': 'This is the shipper interface; the access token is for the carrier one.',
  'insufficient-scope': 'This needs the scope webhooks:write; the access token has webhooks:read.',
  'unknown-path': 'No endpoint has this path: /docs shows those that there are.',
  'unknown-action': 'There is no action "order.create". The nearest are: order.created, order.booked, order.removed.',
  'not-subscribed': 'This client is not subscribed to order.created.',
  'unknown-delivery': 'This client has no delivery of that guid, or it is no longer kept.',
  'no-longer-kept':
    'Some of what follows this "after" is no longer kept, or the log was restored from a backup. There is something from 2026-11-20T09:30:00.000Z on: go on with "after=oldest", or with a time.',
  'unknown-replay': 'There is no replay of this guid that belongs to this client.',
  'under-way': 'It is still on its way: see when its next attempt is due.',
  'was-a-test': 'A test is not sent again: ask for another one.',
  'body-gone': 'What was sent is no longer kept; ask the platform to publish the event again.',
  'nobody-subscribed': 'This client is not subscribed to the action any more: subscribe first.',
  'nothing-missed': 'The subscription has missed nothing, or another replay has it in hand.',
  'account-closed': 'The account is closed: an operator opens it again.',
  'switched-off': 'It is switched off: switch it on first, with PATCH and {"is_active": true}.',
  stopped: 'An operator has stopped it since 2026-11-20T09:30:00.123Z: the receiver is being moved.',
  'not-stopped': 'No operator has stopped it.',
  'unknown-account': 'there is no account 0b6f1a52-6f5e-4a3f-9a55-0c8f2f0f7d11: correct the guid, or create it first',
  'unknown-client': 'this account has no client "tsm": it has default, tms',
  'nothing-known': 'Nothing is known of "4711": it is longer ago than LOG_RETENTION, or it is not called so.',
  'unknown-rejected': 'not there: 0a4b9f7167; see "./waybell rejected list"',
  'several-rejected': '4711 may be any of these: 0a4b9f7167, 1b2c3d4e5f; see "./waybell rejected list --about 4711"',
  'not-an-event': '0a4b9f7167 is not an event that was rejected: retry it, or purge it.',
  'rejected-taken': 'another command reads waybell.rejected: try again when it has ended',
  'no-broker': 'Set ADMIN_AMQP_URL for this process: it names RabbitMQ, and a user with the rights of an operator.',
  'unknown-token': 'there is no such token: give the token itself or its guid',
  'method-not-allowed': 'Allowed here: GET, HEAD.',
  'feature-off': 'insurance.issued needs the feature "insurance", which is not enabled for this account.',
  'already-subscribed':
    'This client is already subscribed to the action. DELETE the subscription first, then subscribe again.',
  'rotation-under-way':
    'The secret before the last rotation is valid until 2026-11-21T09:30:00.000Z: rotate after that, or end it at once with {"force": true}.',
  'account-exists': 'account 0b6f1a52-6f5e-4a3f-9a55-0c8f2f0f7d11 exists already: update it, or choose another guid',
  'unknown-credentials':
    'This client has none for receiver.example.com: GET /v1/credentials has the hosts that it has some for.',
  'too-many-credentials': 'A client has credentials for at most 100 hosts: DELETE those that are no longer used.',
  'unknown-listener': 'There is no listener of this guid that belongs to this client.',
  'answered-too-late': 'Nobody waits for the answer to it any more.',
  'already-listening':
    'Another listener of this name lives: choose another name, or end it; without its program it ends within 60 s.',
  'invalid-link': 'The link was opened before, or its time is over. Ask for a new one.',
  'listener-ended': 'The listener has ended: begin another.',
  'request-timeout': 'The request did not come to its end in time.',
  'body-too-large': 'A body has at most 64 KiB here, after decompression.',
  'unsupported-media-type': 'Send the header "Content-Type: application/json; charset=utf-8".',
  'invalid-body': '#/callback_url is required',
  'invalid-parameter': 'limit must be a whole number from 1 to 200',
  'too-many-requests': 'A client has 600 requests a minute.',
  'headers-too-large': 'The request line and the headers have at most 16 KiB.',
  'internal-error': 'The error was logged under the id in "instance".',
  unavailable: 'A server behind this one cannot be reached; nothing was changed, or it is not known: ask again.',
  'no-answer': 'The listener did not answer within 55 s.',
};

const ERRORS: Partial<Record<ProblemKind, readonly JsonNode[]>> = {
  'invalid-body': [{ pointer: '#/callback_url', detail: 'is required' }],
  'invalid-parameter': [{ parameter: 'limit', detail: 'must be a whole number from 1 to 200' }],
};

const INSTANCE = '1f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11';

/** An example of each kind, by its name. */
function problemExamples(kinds: readonly ProblemKind[]): JsonNode {
  return Object.fromEntries(kinds.map((kind) => [kind, { value: problemExample(kind) }]));
}

function problemExample(kind: ProblemKind): JsonNode {
  const [status, title] = problemKinds[kind];
  return {
    type: problemType(kind),
    title,
    status,
    detail: DETAILS[kind],
    instance: INSTANCE,
    ...(kind in ERRORS ? { errors: ERRORS[kind] } : {}),
  };
}
