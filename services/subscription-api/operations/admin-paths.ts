import { ACCOUNT_NAME_PATTERN } from '@waybell/delivery-log/read/accounts';
import { consoleLinksOfAccount, adminTokenPaths } from './access-paths.ts';
import { actingPaths } from './acting-paths.ts';
import { adminLinePaths } from './admin-line-paths.ts';
import { adminLogPaths } from './admin-log-paths.ts';
import { adminOverviewPaths } from './admin-overview-paths.ts';
import { adminStopPaths } from './admin-stop-paths.ts';
import { problemAnswers, success } from './answers.ts';
import { documentPath, rootPath } from './document-paths.ts';
import { jsonOf, listOf, schemaRef, bareLinks, byGuid, noBody, type JsonNode } from './json-node.ts';

const security = [{ accessToken: ['admin'] }];
const accounts = { tags: ['Accounts'], security };
const tokens = { tags: ['Access tokens'], security };

const guid = { name: 'guid', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
const features = { type: 'array', items: schemaRef('Feature') };

const object = (properties: JsonNode, required: readonly string[] = []): JsonNode => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});

/** The parameters of a list of accounts. */
export const accountParameters: readonly JsonNode[] = [
  {
    name: 'after',
    in: 'query',
    schema: { type: 'string', format: 'uuid' },
    description: 'The `next` of the page before.',
  },
];

const name = {
  type: ['string', 'null'],
  pattern: ACCOUNT_NAME_PATTERN,
  description: 'a name of at most 200 printable characters; null or an empty one for none',
  examples: ['Acme'],
};

/** The body of a request to make an account. */
export const newAccount = object(
  { interface: { enum: ['shipper', 'carrier'] }, guid: { type: 'string', format: 'uuid' }, name, features },
  ['interface'],
);

/** The body of a request to name an account, and to switch features. */
export const accountChange = object({ name, add_features: features, remove_features: features });

/** The body of a request to make a token. */
export const newToken = object({
  client_id: { ...schemaRef('ClientId'), description: 'Each has subscriptions of its own; else `default`.' },
  scopes: schemaRef('Scopes'),
  expires_in: { ...schemaRef('Duration'), description: 'Without it, the token holds until it is revoked.' },
});

const accountsPath = {
  get: {
    ...accounts,
    operationId: 'listAccounts',
    summary: 'List accounts',
    parameters: accountParameters,
    responses: {
      200: {
        ...success(
          'Up to 1,000 accounts, by guid.',
          object(
            {
              objects: { type: 'array', items: schemaRef('Account') },
              next: { type: ['string', 'null'], format: 'uuid', description: 'Null: there are no more.' },
            },
            ['objects', 'next'],
          ),
        ),
        links: bareLinks(byGuid('/objects/0/guid', 'updateAccount', 'listTokens', 'createToken')),
      },
      ...problemAnswers(['any-interface'], ['invalid-parameter']),
    },
  },
  post: {
    ...accounts,
    operationId: 'createAccount',
    summary: 'Create an account',
    description: 'A broker is an account on the shipper interface.',
    requestBody: {
      required: true,
      content: jsonOf(newAccount),
    },
    responses: {
      201: success('The account.', schemaRef('Account')),
      ...problemAnswers(['any-interface', 'body'], ['account-exists']),
    },
  },
};

const tokensOfAccount = {
  parameters: [guid],
  get: {
    ...tokens,
    operationId: 'listTokens',
    summary: 'List the access tokens of an account',
    description: 'Oldest first; never the tokens themselves, and none of links that have ended.',
    responses: {
      200: {
        ...success(
          'The access tokens.',
          object({ objects: { type: 'array', items: schemaRef('AccessToken') } }, ['objects']),
        ),
        links: bareLinks(byGuid('/objects/0/guid', 'revokeToken')),
      },
      ...problemAnswers(['any-interface'], ['malformed-request', 'unknown-account']),
    },
  },
  post: {
    ...tokens,
    operationId: 'createToken',
    summary: 'Create an access token',
    description: 'Only a hash of it is kept. Without `scopes` it has `webhooks:read` and `webhooks:write`.',
    requestBody: {
      required: true,
      content: jsonOf(newToken),
    },
    responses: {
      201: success(
        'The access token, shown this once.',
        object(
          { guid: { type: 'string', format: 'uuid' }, token: { type: 'string', pattern: String.raw`^wbl_[\w-]{43}$` } },
          ['guid', 'token'],
        ),
      ),
      ...problemAnswers(['any-interface', 'body'], ['unknown-account', 'account-closed']),
    },
  },
};

/** The body of a request to close an account. */
export const accountClosing = object({
  dry_run: { type: 'boolean', default: false, description: 'Whether to say only what would end.' },
});

/** The endpoints for operators. */
export const adminPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/admin/accounts': accountsPath,
  '/v1/admin/accounts/{guid}': {
    parameters: [guid],
    get: {
      ...accounts,
      operationId: 'getAccount',
      summary: 'See an account',
      responses: {
        200: success('The account.', schemaRef('Account')),
        ...problemAnswers(['any-interface'], ['malformed-request', 'invalid-parameter', 'unknown-account']),
      },
    },
    patch: {
      ...accounts,
      operationId: 'updateAccount',
      summary: 'Name an account, and switch its features on and off',
      description: 'What is subscribed stays; nothing is sent for it while its feature is off.',
      requestBody: {
        required: true,
        content: jsonOf(accountChange),
      },
      responses: {
        200: success('The account as it is now.', schemaRef('Account')),
        ...problemAnswers(['any-interface', 'body'], ['unknown-account']),
      },
    },
  },
  '/v1/admin/accounts/{guid}/close': {
    parameters: [guid],
    post: {
      ...accounts,
      operationId: 'closeAccount',
      summary: 'Close an account',
      description:
        'Its subscriptions and listeners end, and what waits for them is dropped (`closed`); its access tokens, links and sign-ins to the console hold no more; its credentials and signing secrets are deleted. Nothing goes out after it but requests that are under way. Nothing new can be made for it until it is opened again, by a JWT neither. The delivery log stays for as long as it is kept, and the audit log too. Once more is fine.',
      requestBody: { required: true, content: jsonOf(accountClosing) },
      responses: {
        200: success('What ended, or would.', schemaRef('AccountClosing')),
        ...problemAnswers(['any-interface', 'body'], ['unknown-account']),
      },
    },
  },
  '/v1/admin/accounts/{guid}/open': {
    parameters: [guid],
    post: {
      ...accounts,
      operationId: 'openAccount',
      summary: 'Open a closed account again',
      description: 'What ended with it stays ended. Once more is fine.',
      requestBody: noBody,
      responses: {
        200: success('The account as it is now.', schemaRef('Account')),
        ...problemAnswers(['any-interface', 'body'], ['unknown-account']),
      },
    },
  },
  '/v1/admin/accounts/{guid}/tokens': tokensOfAccount,
  '/v1/admin/accounts/{guid}/clients': {
    parameters: [guid],
    get: {
      ...accounts,
      operationId: 'listClients',
      summary: 'List the API clients of an account',
      description: 'By id: those that have, or had, an access token or a subscription.',
      responses: {
        200: success('The clients.', listOf('AccountClient')),
        ...problemAnswers(['any-interface', 'parameters'], ['unknown-account']),
      },
    },
  },
  '/v1/admin/accounts/{guid}/console-links': { parameters: [guid], ...consoleLinksOfAccount },
  '/v1/admin/tokens/{guid}': {
    parameters: [guid],
    delete: {
      ...tokens,
      operationId: 'revokeToken',
      summary: 'End an access token at once',
      description: 'Once more is fine.',
      requestBody: noBody,
      responses: {
        200: success(
          'It no longer holds, and was the last of its client, whose subscriptions go on.',
          schemaRef('GoingOn'),
        ),
        204: success('It no longer holds.', null),
        ...problemAnswers(['any-interface', 'body'], ['unknown-token']),
      },
    },
  },
  ...adminTokenPaths,
  '/': rootPath('admin-openapi.json'),
  ...adminLogPaths,
  ...adminStopPaths,
  ...adminOverviewPaths,
  ...adminLinePaths,
  ...actingPaths,
  '/admin-openapi.json': documentPath({
    operationId: 'getAdminOpenApi',
    summary: 'This document',
    content: jsonOf({ type: 'object', required: ['openapi'] }),
  }),
};
