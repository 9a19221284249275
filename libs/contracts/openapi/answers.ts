import { problemKinds, problemType, type ProblemKind } from '../problem-kinds.ts';
import { problemExamples } from './problem-examples.ts';
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

/** The problems of an operation with these traits and those of its own, as responses by status. */
export function problemAnswers(traits: readonly Trait[], own: readonly ProblemKind[] = []): Record<string, JsonNode> {
  const kinds = new Set([...traits.flatMap((trait) => BY_TRAIT[trait]), ...own, ...EVERYWHERE]);
  const byStatus = Map.groupBy(kinds, (kind) => problemKinds[kind][0]);
  const answers = [...byStatus].map(([status, ofStatus]): [string, JsonNode] => [
    String(status),
    problemAnswer(ofStatus, traits.includes('action') && status !== 401 && status !== 403 ? deprecationHeaders : {}),
  ]);
  return Object.fromEntries(answers);
}

/** These responses, whose operation can answer with these problems, too. */
export function withProblems(
  responses: Record<string, JsonNode>,
  kinds: readonly ProblemKind[],
): Record<string, JsonNode> {
  const own = Object.values(responses).flatMap(kindsIn);
  const statuses = kinds.map((kind) => String(problemKinds[kind][0]));
  const all = Object.entries(problemAnswers([], [...own, ...kinds]));
  return { ...responses, ...Object.fromEntries(all.filter(([status]) => statuses.includes(status))) };
}

/** The kinds of the problems of a response: its examples are named by them. */
function kindsIn({ content = {} }: { content?: JsonNode }): ProblemKind[] {
  const { examples = {} } = (content['application/problem+json'] ?? {}) as { examples?: JsonNode };
  return Object.keys(examples) as ProblemKind[];
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

/** The answer hoped for. */
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
