import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { answered, objectOf } from './delivery-log-paths.ts';
import { guid, object, schemaRef, text, type JsonNode } from './json-node.ts';

const properties = {
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

const whole = { interface: { enum: ['shipper', 'carrier'] }, ...properties, features };

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

export const ownTokenSchemas: Record<string, JsonNode> = { OwnToken: object(Object.keys(whole), whole) };

/** The same for operators. */
export const adminTokenPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/admin/token': {
    get: {
      tags: ['Access tokens'],
      operationId: 'getOwnToken',
      summary: 'See whose the access token of the request is',
      security: [{ accessToken: ['admin'] }],
      responses: {
        200: success('Whose it is.', object(Object.keys(properties), properties)),
        ...problemAnswers(['any-interface']),
      },
    },
  },
};
