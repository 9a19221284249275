import { problemKinds, problemType, type ProblemKind } from '../problem-kinds.ts';
import type { JsonNode } from './json-node.ts';

/** What an answer of each kind says of its request. */
const DETAILS: Record<ProblemKind, string> = {
  'invalid-json': 'The body is not JSON: it is empty',
  'malformed-request': 'The path is not valid percent-encoding.',
  unauthenticated: 'Send the header "Authorization: Bearer <access token>".',
  'invalid-token': 'The access token expired.',
  'other-interface': 'This is the shipper interface; the access token is for the carrier one.',
  'insufficient-scope': 'This needs the scope webhooks:write; the access token has webhooks:read.',
  'unknown-path': 'No endpoint has this path; see the documentation of the REST interface.',
  'unknown-action': 'There is no action "order.create". The nearest are: order.created, order.booked, order.removed.',
  'not-subscribed': 'This client is not subscribed to order.created.',
  'method-not-allowed': 'Allowed here: GET, HEAD.',
  'feature-off': 'insurance.issued needs the feature "insurance", which is not enabled for this account.',
  'already-subscribed':
    'This client is already subscribed to the action. DELETE the subscription first, then subscribe again.',
  'body-too-large': 'A body has at most 64 KiB, after decompression.',
  'unsupported-media-type': 'Send the header "Content-Type: application/json; charset=utf-8".',
  'invalid-body': '#/callback_url is required',
  'internal-error': 'The error was logged under the id in "instance".',
  unavailable: 'The database cannot be reached; nothing was changed, or it is not known: ask again.',
};

const INSTANCE = '1f0c9a52-6f5e-4a3f-9a55-0c8f2f0f7d11';

/** An example of each kind, by its name. */
export function problemExamples(kinds: readonly ProblemKind[]): JsonNode {
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
    ...(kind === 'invalid-body' ? { errors: [{ pointer: '#/callback_url', detail: 'is required' }] } : {}),
  };
}
