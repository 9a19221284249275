import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { answered } from './delivery-log-paths.ts';
import { jsonOf, type JsonNode } from './json-node.ts';

const tags = ['Signing secrets'];
const security = [{ accessToken: ['webhooks:write'] }];

const secrets: JsonNode = {
  type: 'array',
  minItems: 1,
  maxItems: 2,
  items: {
    type: 'object',
    required: ['secret', 'created_at', 'expires_at'],
    properties: {
      secret: {
        type: 'string',
        pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
        examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
      },
      created_at: { type: 'string', format: 'date-time' },
      expires_at: {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'Until when notifications are signed with it, too; null for the current secret.',
      },
    },
  },
};

/** The body of a request to rotate. */
export const rotateRequest: JsonNode = {
  type: 'object',
  additionalProperties: false,
  properties: { force: { type: 'boolean', default: false } },
};

/** Secrets of Standard Webhooks: they sign notifications of the token's client, on either interface. */
export function signingSecretPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const list: JsonNode = { type: 'object', required: ['objects'], properties: { objects: secrets } };
  const valid = answered(interfaces, { shipper: list, carrier: list });
  return {
    '/v1/signing-secrets': {
      get: {
        tags,
        operationId: 'listSigningSecrets',
        summary: 'See the signing secrets',
        description:
          'Those of the client. The current one first, and for some time after a rotation the one before it.',
        security,
        responses: { 200: success('The secrets that are valid.', valid), ...problemAnswers(['any-interface']) },
      },
    },
    '/v1/signing-secrets/rotate': {
      post: {
        tags,
        operationId: 'rotateSigningSecret',
        summary: 'Take a new signing secret',
        description:
          'Notifications are signed with the new one and, for some time, with the one before it. Until that is over there is no other rotation, unless `force` ends the one before at once: then receivers that still check with it refuse what they get.',
        security,
        requestBody: {
          required: false,
          content: jsonOf(rotateRequest),
        },
        responses: {
          200: success('The secrets that are valid, the new one first.', valid),
          ...problemAnswers(['any-interface', 'body'], ['rotation-under-way']),
        },
      },
    },
  };
}
