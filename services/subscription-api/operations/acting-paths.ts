/** Paths of areas that are no operations yet. */
import { actingTag } from './acting.ts';
import { withProblems } from './answers.ts';
import { byHandPaths, byHandSchemas } from './by-hand-paths.ts';
import { deliveryLogPaths, statisticsPaths, statisticsSchemas } from './delivery-log-paths.ts';
import { deliveryLogSchemas } from './delivery-log-schemas.ts';
import { guid, schemaRef, type JsonNode } from './json-node.ts';
import { livePaths, liveSchemas } from './live-paths.ts';
import { missedPaths, missedSchemas } from './missed-paths.ts';

const interfaces = ['shipper', 'carrier'] as const;

/** The operations of clients that operators may call too, from the document for clients. */
const clientPaths: Readonly<Record<string, JsonNode>> = {
  ...deliveryLogPaths(interfaces),
  ...livePaths(interfaces),
  ...statisticsPaths(interfaces),
  ...missedPaths(interfaces),
  ...byHandPaths(interfaces),
};

/** Schemas of these paths. */
export const actingSchemas: Record<string, JsonNode> = {
  ...deliveryLogSchemas,
  ...liveSchemas,
  ...statisticsSchemas,
  ...missedSchemas,
  ...byHandSchemas,
};

const V1 = '/v1/';
const PLACE = '/v1/admin/accounts/{account}/clients/{client}/';
const placeParameters: readonly JsonNode[] = [
  { name: 'account', in: 'path', required: true, schema: guid },
  {
    name: 'client',
    in: 'path',
    required: true,
    schema: schemaRef('ClientId'),
    description: 'Its id; or `~` and the base64url of its id, which no proxy changes.',
  },
];
const PROBLEMS = [
  'malformed-request',
  'insufficient-scope',
  'unknown-account',
  'unknown-client',
  'account-closed',
  'invalid-parameter',
] as const;

const named = (operationId: unknown): string => `${String(operationId)}ForClient`;

/** Each path of a client for operators: below the client's place, answered as the account's interface does. */
export const actingPaths: Readonly<Record<string, JsonNode>> = Object.fromEntries(
  Object.entries(clientPaths)
    .filter(([path]) => path.startsWith(V1))
    .map(([path, { parameters = [], ...operations }]) => [
      path.replace(V1, PLACE),
      { parameters: [...placeParameters, ...(parameters as JsonNode[])], ...mapped(operations, ofOperator) },
    ]),
);

function ofOperator(operation: JsonNode): JsonNode {
  const responses = mapped(withoutTokens(operation['responses'] as JsonNode), withLinks);
  return {
    ...operation,
    tags: [actingTag],
    operationId: named(operation['operationId']),
    security: [{ accessToken: ['admin'] }],
    responses: withProblems(responses, PROBLEMS),
  };
}

/** No answer has to have the verification token. */
function withoutTokens(node: JsonNode): JsonNode {
  const others = (name: string, value: unknown): unknown =>
    name === 'required' && Array.isArray(value) ? value.filter((each) => each !== 'verification_token') : value;
  return JSON.parse(JSON.stringify(node), others) as JsonNode;
}

function withLinks({ links, ...response }: JsonNode): JsonNode {
  return links === undefined ? response : { ...response, links: mapped(links as JsonNode, toOperators) };
}

function toOperators(link: JsonNode): JsonNode {
  const place = { account: '$request.path.account', client: '$request.path.client' };
  const parameters = { ...(link['parameters'] as JsonNode | undefined), ...place };
  return { ...link, operationId: named(link['operationId']), parameters };
}

/** Each member of a node is one, too. */
function mapped(node: JsonNode, change: (member: JsonNode) => JsonNode): Record<string, JsonNode> {
  return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, change(member as JsonNode)]));
}
