/**
 * Clients' operations for operators: below the place of a client, answered as its interface does, without verification tokens. The audit
 * log names the operator. Excludes the client's secrets (signing secrets, credentials) and its experiments (listeners, triggers).
 */
import { clientsOf, closedAccount, findAccount } from '../accounts.ts';
import type { Database } from '../database.ts';
import { Refusal } from '../refusal.ts';
import { requireScope, type Authenticate } from '../rest/authentication/authenticate.ts';
import { requirePathGuid } from '../rest/http/read-query.ts';
import { ClientId } from './accounts.ts';
import type { Operation, PathParameter } from './operation.ts';
import { guid, type JsonNode } from './schema.ts';
import type { ActingServices } from './services.ts';

export const actingTag = 'For a client';

const V1 = '/v1/';
/** Each of a client's paths has it in the place of `/v1/`. */
export const PLACE_OF_CLIENT = '/v1/admin/accounts/{account}/clients/{client}/';

/** `inPlaceOfClient` reads them. */
const place = {
  account: { schema: guid(), trait: 'parameters', read: (text) => text },
  client: {
    schema: ClientId,
    description: 'Its id; or `~` and the base64url of its id, which no proxy changes.',
    trait: 'parameters',
    read: (text) => text,
  },
} satisfies Record<string, PathParameter>;

const forClient = (operationId: unknown): string => `${String(operationId)}ForClient`;

/** The operation of a client below the client's place; none where it has another address there. */
export function belowClient(operation: Operation<ActingServices>): Operation<ActingServices>[] {
  const { path, id, parameters, problems = [] } = operation;
  if (!path.startsWith(V1)) return [];
  const ofPlace = ['insufficient-scope', 'unknown-account', 'unknown-client', 'account-closed'] as const;
  return [
    {
      ...operation,
      tag: actingTag,
      path: path.replace(V1, PLACE_OF_CLIENT),
      id: forClient(id),
      parameters: { ...place, ...parameters },
      problems: [...problems, ...ofPlace],
    },
  ];
}

/** Describes what an operator's request differs in: its token, answers without verification tokens, and the place that links lead to. */
export const asOperatorsAsk = (paths: Readonly<Record<string, JsonNode>>): Record<string, JsonNode> =>
  mapped(paths, ({ parameters, ...methods }) => ({ parameters, ...mapped(methods, ofOperator) }));

function ofOperator(operation: JsonNode): JsonNode {
  const responses = mapped(withoutTokens(operation['responses'] as JsonNode), withLinks);
  return { ...operation, security: [{ accessToken: ['admin'] }], responses };
}

/** No answer has to have the verification token. */
function withoutTokens(node: JsonNode): JsonNode {
  const others = (name: string, value: unknown): unknown =>
    name === 'required' && Array.isArray(value) ? value.filter((each) => each !== 'verification_token') : value;
  return JSON.parse(JSON.stringify(node), others) as JsonNode;
}

const withLinks = ({ links, ...response }: JsonNode): JsonNode =>
  links === undefined ? response : { ...response, links: mapped(links as JsonNode, toOperators) };

function toOperators(link: JsonNode): JsonNode {
  const inPath = { account: '$request.path.account', client: '$request.path.client' };
  const parameters = { ...(link['parameters'] as JsonNode | undefined), ...inPath };
  return { ...link, operationId: forClient(link['operationId']), parameters };
}

/** Each member of a node is one, too. */
function mapped(node: JsonNode, change: (member: JsonNode) => JsonNode): Record<string, JsonNode> {
  return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, change(member as JsonNode)]));
}

/** Admits an operator in the place of the client that the path names. Throws Refusal where there is no such one. */
export function inPlaceOfClient(database: Pick<Database, 'askLog'>): (admit: Authenticate) => Authenticate {
  return (admit) => async (request) => {
    const operator = await admit(request);
    requireScope(operator, 'admin');
    const { account: named = '', client = '' } = request.params as PlaceInPath;
    const accountGuid = requirePathGuid('account', named);
    const { account, clientId } = await database.askLog(async (postgres) => {
      const found = await findAccount(postgres, accountGuid);
      return { account: found, clientId: knownClient(client, await clientsOf(postgres, accountGuid)) };
    });
    if (account.closed_at !== null && !['GET', 'HEAD'].includes(request.method)) throw closedAccount(account.guid);
    return {
      interface: account.interface,
      accountGuid: account.guid,
      accountName: account.name,
      clientId,
      features: account.features,
      scopes: ['webhooks:read', 'webhooks:write'],
      actor: operator.actor,
      isOperator: true,
    };
  };
}

type PlaceInPath = { account?: string; client?: string };

const MOST_NAMED = 20;

/** In a path a client is named as it is or, as proxies change what is in paths, by `~` and its base64url. */
const decodedClient = (text: string): string =>
  text.startsWith('~') ? Buffer.from(text.slice(1), 'base64url').toString() : text;

/** Throws Refusal for a client that the account does not have: a mistyped one must not seem to have nothing. */
function knownClient(text: string, clients: readonly { client_id: string }[]): string {
  const clientId = decodedClient(text);
  const found = [text, clientId].find((named) => clients.some((each) => each.client_id === named));
  if (found !== undefined) return found;
  const named = clients.slice(0, MOST_NAMED).map((each) => each.client_id);
  const all = [...named, ...(clients.length > MOST_NAMED ? ['…'] : [])].join(', ');
  const has = clients.length === 0 ? 'it has none yet' : `it has ${all}`;
  throw new Refusal(`this account has no client "${clientId}": ${has}`, 'unknown-client');
}
