/** Access tokens: whose a token is, for clients and for operators; and links by which the console gets one. */
import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { answered, objectOf } from './delivery-log-paths.ts';
import { exactly, guid, jsonOf, moment, object, schemaRef, text, type JsonNode } from './json-node.ts';

const owner = {
  account_guid: guid,
  account_name: { type: ['string', 'null'], description: 'What people call it.', examples: ['Acme'] },
  client_id: { ...text, examples: ['default'] },
  scopes: { type: 'array', items: { enum: ['webhooks:read', 'webhooks:write', 'admin'] } },
};

const features = {
  type: 'array',
  description: 'Those that are enabled for the account.',
  items: { enum: ['insurance', 'servicepay'] },
};

const whole = { interface: { enum: ['shipper', 'carrier'] }, ...owner, features };

/** Describes the path that returns the owner of a token: the same on each interface, except for the wrapping of answers. */
export function ownTokenPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  return {
    '/v1/token': {
      get: {
        tags: ['Access token'],
        operationId: 'getToken',
        summary: 'See whose the access token is, and what it may do',
        description: 'Every access token that holds may ask, whatever its scopes.',
        security: [{ accessToken: [] }],
        responses: {
          200: success(
            'Whose it is.',
            answered(interfaces, { shipper: objectOf('OwnToken'), carrier: schemaRef('OwnToken') }),
          ),
          ...problemAnswers(['any-scope']),
        },
      },
    },
  };
}

export const ownTokenSchemas: Record<string, JsonNode> = { OwnToken: exactly(whole) };

/** Describes the path that returns the owner of a token to operators. */
export const adminTokenPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/admin/token': {
    get: {
      tags: ['Access tokens'],
      operationId: 'getOwnToken',
      summary: 'See whose the access token of the request is',
      security: [{ accessToken: ['admin'] }],
      responses: {
        200: success('Whose it is.', exactly(owner)),
        ...problemAnswers(['any-interface']),
      },
    },
  },
};

/** The body of a request to make a link to the console. */
export const newConsoleLink: JsonNode = {
  type: 'object',
  properties: {
    client_id: { ...schemaRef('ClientId'), description: 'The client that the console is opened for; else `default`.' },
    scopes: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: ['webhooks:read', 'webhooks:write'] },
      description: 'What may be done there; else `webhooks:read`.',
    },
    expires_in: { ...schemaRef('Duration'), description: 'How long it can be opened: a day at most; else 10m.' },
    token_expires_in: {
      ...schemaRef('Duration'),
      description: 'How long one is signed in, from the opening on: a day at most; else 1h.',
    },
  },
  additionalProperties: false,
};

/** The path that makes links, for operators. */
export const consoleLinksOfAccount: JsonNode = {
  post: {
    tags: ['Access tokens'],
    security: [{ accessToken: ['admin'] }],
    operationId: 'createConsoleLink',
    summary: 'Create a link that opens the console for a client, once',
    description:
      'For a platform that shows the console within a page of its own (`CONSOLE_PARENTS`), or for a person who has no token. The first to open it is signed in. It is in the list of access tokens, and ends when revoked there. The audit log names the operator for the link and for its opening.',
    requestBody: { required: true, content: jsonOf(newConsoleLink) },
    responses: {
      201: success(
        'The link, shown this once.',
        object(['guid', 'path', 'expires_at'], {
          guid: { ...guid, description: 'Of the access token that it is opened with.' },
          path: {
            type: 'string',
            pattern: String.raw`^/console/#link=wbk_[\w-]{43}$`,
            description:
              'Append it to the address at which clients reach the API. A page of the console may follow, such as `/deliveries`.',
          },
          expires_at: moment,
        }),
      ),
      ...problemAnswers(['any-interface', 'body'], ['unknown-account', 'account-closed']),
    },
  },
};

/** The body of a request to open a link. */
export const newConsoleSession: JsonNode = {
  type: 'object',
  required: ['code'],
  properties: {
    code: {
      ...text,
      maxLength: 200,
      pattern: String.raw`^[\x21-\x7e]+$`,
      description: 'what follows `#link=` in the link: visible ASCII characters',
    },
  },
  additionalProperties: false,
};

/** The path that opens links, which needs no token. */
export const consoleSessionPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/console-sessions': {
    post: {
      tags: ['Access token'],
      operationId: 'createConsoleSession',
      summary: 'Sign in to the console by a link',
      description: 'The console does so: a link that an operator has made is exchanged for an access token, once.',
      security: [],
      requestBody: { required: true, content: jsonOf(newConsoleSession) },
      responses: {
        201: success(
          'The access token, shown this once.',
          object(['token', 'expires_at'], {
            token: { type: 'string', pattern: String.raw`^wbl_[\w-]{43}$` },
            expires_at: moment,
          }),
        ),
        ...problemAnswers(['body'], ['invalid-link', 'too-many-requests', 'unavailable']),
      },
    },
  },
};
