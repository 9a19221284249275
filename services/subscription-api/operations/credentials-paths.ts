import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { callbackUrl } from './subscription-rules.ts';
import { answered, objectOf } from './delivery-log-paths.ts';
import {
  jsonOf,
  listOf,
  moment,
  object,
  schemaRef,
  text,
  links,
  noBody,
  type JsonNode,
  type LinkTarget,
} from './json-node.ts';

const tags = ['Credentials'];
const read = [{ accessToken: ['webhooks:read'] }];
const write = [{ accessToken: ['webhooks:write'] }];

const secret: JsonNode = { type: 'string', format: 'password', writeOnly: true };
const closed = (required: readonly string[], properties: JsonNode): JsonNode => ({
  ...object(required, properties),
  additionalProperties: false,
});

const VISIBLE = String.raw`^[\u0020-\u007e]{1,2048}$`;
const VISIBLE_TEXT = 'a text of 1 to 2,048 visible ASCII characters and blanks';

const headers: JsonNode = {
  type: 'object',
  minProperties: 1,
  maxProperties: 5,
  additionalProperties: {
    ...secret,
    minLength: 1,
    maxLength: 4_096,
    pattern: String.raw`^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$`,
  },
  description:
    'Sent with each request, in names as they are written here: not those that callbacks have already (`webhook-…`, `X-Webhook-…`, `X-Service-Verification-Token`, `User-Agent`, `Content-…`, `traceparent`), nor those that are about the connection.',
  examples: [{ 'X-Api-Key': 'p4ssw0rd' }],
};

const basic = closed(['username', 'password'], {
  username: {
    type: 'string',
    maxLength: 1_024,
    pattern: String.raw`^[^:\u0000-\u001f\u007f-\u009f]*$`,
    description: 'a text of at most 1,024 characters without a colon and control characters',
    examples: ['waybell'],
  },
  password: {
    ...secret,
    maxLength: 1_024,
    pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`,
    description: 'a text of at most 1,024 characters without control characters',
    examples: ['p4ssw0rd'],
  },
});

const clientId: JsonNode = { type: 'string', pattern: VISIBLE, description: VISIBLE_TEXT, examples: ['waybell'] };
const scope: JsonNode = {
  type: 'string',
  maxLength: 2_048,
  pattern: String.raw`^[!#-\[\]-~]+( [!#-\[\]-~]+)*$`,
  description: 'scopes with one blank between them, at most 2,048 characters: visible ASCII without " and \\',
  examples: ['notifications.write'],
};
const audience: JsonNode = {
  type: 'string',
  pattern: VISIBLE,
  description: VISIBLE_TEXT,
  examples: ['https://receiver.example.com'],
};

const oauth2 = closed(['token_url', 'client_id', 'client_secret'], {
  token_url: {
    ...callbackUrl,
    examples: ['https://login.example.com/oauth2/token'],
    description: 'Where access tokens are asked for: by the rules for a `callback_url`.',
  },
  client_id: clientId,
  client_secret: { ...secret, pattern: VISIBLE, description: VISIBLE_TEXT, examples: ['p4ssw0rd'] },
  scope,
  audience,
  secret_in: {
    enum: ['header', 'body'],
    default: 'header',
    description: 'Where a token request has id and secret: in a header, as Basic, or in its body.',
  },
});

const certificate = closed(['chain', 'key'], {
  chain: {
    type: 'string',
    maxLength: 32_768,
    examples: ['-----BEGIN CERTIFICATE-----\nMII…\n-----END CERTIFICATE-----\n'],
    description: 'In PEM: first the certificate of the key, then each that issued the one before, at most ten.',
  },
  key: {
    ...secret,
    maxLength: 16_384,
    examples: ['-----BEGIN PRIVATE KEY-----\nMII…\n-----END PRIVATE KEY-----\n'],
    description: 'In PEM, without a passphrase: RSA with 2,048 to 4,096 bits, P-256, P-384, P-521 or Ed25519.',
  },
});

/** The body of a request to put credentials in. */
export const credentialsRequest: JsonNode = {
  ...closed([], { headers, basic, oauth2, certificate }),
  minProperties: 1,
  description:
    'At least one kind. `basic`, `oauth2` and a header `Authorization` exclude each other, as a request has one of them.',
  examples: [{ headers: { 'X-Api-Key': 'p4ssw0rd' } }],
};

const hostInPath = {
  name: 'host',
  in: 'path',
  required: true,
  schema: { ...text, examples: ['receiver.example.com'] },
  description: 'Of callback URLs, with its port where that is not 443: `receiver.example.com:8443`.',
};

/** Credentials of a client's callbacks: the same on each interface, except for the wrapping of answers. */
export function credentialsPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const one = answered(interfaces, { shipper: objectOf('Credentials'), carrier: schemaRef('Credentials') });
  const many = answered(interfaces, { shipper: listOf('Credentials'), carrier: listOf('Credentials') });
  return {
    '/v1/credentials': {
      get: {
        tags,
        operationId: 'listCredentials',
        summary: 'See for which hosts there are credentials',
        description: 'Those of the client, by host, without anything that is secret.',
        security: read,
        responses: {
          200: { ...success('The credentials.', many), links: links(interfaces, 'list', byHost('/objects/0/host')) },
          ...problemAnswers(['any-interface']),
        },
      },
    },
    '/v1/credentials/{host}': {
      parameters: [hostInPath],
      get: {
        tags,
        operationId: 'getCredentials',
        summary: 'See what there is for a host',
        description: 'Without anything that is secret.',
        security: read,
        responses: {
          200: success('The credentials.', one),
          ...problemAnswers(['any-interface', 'parameters'], ['unknown-credentials']),
        },
      },
      put: putCredentials(interfaces, one),
      delete: {
        tags,
        operationId: 'deleteCredentials',
        summary: 'Have callbacks to a host without credentials',
        description: 'From the next attempt on.',
        security: write,
        requestBody: noBody,
        responses: {
          204: success('There are none any more.', null),
          ...problemAnswers(['any-interface', 'body', 'parameters'], ['unknown-credentials']),
        },
      },
    },
  };
}

function putCredentials(interfaces: readonly Interface[], one: JsonNode): JsonNode {
  const done = (description: string) => ({
    ...success(description, one),
    links: links(interfaces, 'object', byHost('/host')),
  });
  return {
    tags,
    operationId: 'putCredentials',
    summary: 'Put in what callbacks to a host authenticate with',
    description:
      "All of the client's callbacks to the host and port, from the next attempt on, those that wait included. What was there before is gone, kinds that are left out too: there is no way to change a part, so that a token that was stolen cannot point a secret elsewhere. It is encrypted, never shown again, and masked in the delivery log. With `oauth2` it answers once the token URL has, which takes 10 seconds at most, and says what came; the credentials are stored whatever that is. A client has credentials for at most 100 hosts.",
    security: write,
    requestBody: { required: true, content: jsonOf(credentialsRequest) },
    responses: {
      200: done('They are in the place of others.'),
      201: done('They are there.'),
      ...problemAnswers(['any-interface', 'body', 'parameters'], ['too-many-credentials']),
    },
  };
}

/** Each operation on a host that needs no more than that. */
const byHost = (at: string): LinkTarget[] =>
  ['getCredentials', 'deleteCredentials'].map((operationId) => ({ operationId, parameter: 'host', at }));

const orNull = (schema: JsonNode): JsonNode => ({ ...schema, type: ['object', 'null'] });

export const credentialsSchemas: Record<string, JsonNode> = {
  Credentials: {
    ...object(['host', 'headers', 'basic', 'oauth2', 'certificate', 'changed_at', 'subscriptions'], {
      host: { ...text, examples: ['receiver.example.com'] },
      headers: { type: ['array', 'null'], items: { ...text, examples: ['X-Api-Key'] }, description: 'Their names.' },
      basic: orNull(object(['username'], { username: text })),
      oauth2: orNull(
        object(['token_url', 'client_id', 'secret_in'], {
          token_url: { ...text, description: 'Values in its query are `***`.' },
          client_id: text,
          scope: { ...text, description: 'Only where one is asked for.' },
          audience: { ...text, description: 'Only where one is asked for.' },
          secret_in: { enum: ['header', 'body'] },
        }),
      ),
      certificate: orNull(
        object(['subject', 'issuer', 'not_before', 'not_after', 'fingerprint'], {
          subject: text,
          issuer: text,
          not_before: moment,
          not_after: { ...moment, description: 'Put in another before.' },
          fingerprint: { ...text, description: 'SHA-256.' },
        }),
      ),
      token: {
        ...object(['status'], {
          status: { enum: ['issued', 'failed', 'not_tried'] },
          detail: { ...text, description: 'Only with `failed`: what the token URL answered.' },
        }),
        description:
          'Only in the answer to a PUT of `oauth2`: whether the token URL gave a token, asked once. `not_tried`: nobody could ask.',
      },
      changed_at: moment,
      subscriptions: {
        type: 'integer',
        minimum: 0,
        description: "How many of the client's current subscriptions have their callbacks go there.",
      },
    }),
    description: 'Kinds that are not there are null.',
  },
};
