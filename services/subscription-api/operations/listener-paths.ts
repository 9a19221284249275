import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { answered, objectOf } from './delivery-log-paths.ts';
import {
  actionPattern,
  guid,
  headerRef,
  jsonOf,
  object,
  schemaRef,
  text,
  byGuid,
  links,
  noBody,
  type JsonNode,
} from './json-node.ts';

const tags = ['Listeners'];
const security = [{ accessToken: ['webhooks:write'] }];
const guidInPath = { name: 'guid', in: 'path', required: true, schema: guid };
const milliseconds = { type: 'integer', minimum: 1 };

/** The body of a request to listen. */
export const listenerRequest: JsonNode = {
  type: 'object',
  required: ['url'],
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      format: 'uri',
      maxLength: 1_024,
      examples: ['https://waybell.example.com'],
      description: 'Where this API is, as its deliverers reach it: mostly the address that you have of it.',
    },
    actions: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: actionPattern,
      description: 'Names of actions, in which `*` is any text. All that the account can have, where it is left out.',
    },
    name: {
      type: 'string',
      pattern: '^[A-Za-z0-9._-]{0,50}$',
      default: '',
      description: 'at most 50 letters, digits and . _ -: tells several listeners of a client apart',
    },
  },
};

/** The body of an answer to a callback. */
export const listenerAnswer: JsonNode = {
  type: 'object',
  required: ['request', 'status'],
  additionalProperties: false,
  properties: {
    request: { type: 'string', pattern: '^[0-9a-f.-]{1,100}$', description: 'the `id` of a request' },
    status: { type: 'integer', minimum: 200, maximum: 599 },
    body: {
      type: 'string',
      maxLength: 16_384,
      pattern: String.raw`^[^\u0000]*$`,
      default: '',
      description: 'as much of the answer, without NUL, as the delivery log is to have',
    },
  },
};

export const listenerKeyParameter = {
  name: 'key',
  in: 'query',
  description: 'As in the callback URL.',
  schema: { type: 'string', maxLength: 300 },
} as const;

/** Callbacks over a stream: the same on each interface but for what answers are wrapped in. */
export function listenerPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  return {
    '/v1/listeners': { post: createListener(interfaces) },
    '/v1/listeners/{guid}': { parameters: [guidInPath], delete: endListener },
    '/v1/listeners/{guid}/requests': { parameters: [guidInPath], get: streamRequests, post: callListener },
    '/v1/listeners/{guid}/answers': { parameters: [guidInPath], post: answerRequest },
  };
}

function createListener(interfaces: readonly Interface[]): JsonNode {
  const one = answered(interfaces, { shipper: objectOf('Listener'), carrier: schemaRef('Listener') });
  return {
    tags,
    operationId: 'createListener',
    summary: 'Listen without an address of your own',
    description:
      'Subscribes a client of its own, beside that of the token, to these actions: its callbacks come over a stream, and are retried and logged as any. `./waybell listen` does all of this. It ends with `DELETE`, or when it has had no stream for a while; its signing secret stays for the next of its name.',
    security,
    requestBody: { required: true, content: jsonOf(listenerRequest) },
    responses: {
      201: {
        ...success('The listener. Read its stream now.', one),
        links: links(interfaces, 'object', byGuid('/guid', 'streamRequests', 'answerRequest', 'endListener')),
      },
      ...problemAnswers(['any-interface', 'body'], ['feature-off', 'already-listening']),
    },
  };
}

const problems = ['unknown-listener', 'listener-ended'] as const;

const endListener: JsonNode = {
  tags,
  operationId: 'endListener',
  summary: 'Listen no longer',
  description: 'Ends its subscriptions.',
  security,
  requestBody: noBody,
  responses: {
    204: success('It has ended.', null),
    ...problemAnswers(['any-interface', 'body', 'parameters'], problems),
  },
};

const answerRequest: JsonNode = {
  tags,
  operationId: 'answerRequest',
  summary: 'Answer a callback',
  security,
  requestBody: { required: true, content: jsonOf(listenerAnswer) },
  responses: {
    204: success('It is on its way to the deliverer.', null),
    ...problemAnswers(['any-interface', 'body', 'parameters'], [...problems, 'answered-too-late']),
  },
};

const callListener: JsonNode = {
  tags,
  operationId: 'callListener',
  summary: 'For deliverers: the callback URL of a listener',
  description: 'Answers as the program behind the listener does.',
  security: [],
  parameters: [listenerKeyParameter],
  requestBody: { required: true, content: jsonOf({ type: 'object' }) },
  responses: {
    200: {
      description: 'What the program answered, with its status, whichever that is.',
      headers: { 'x-request-id': headerRef('RequestId') },
      content: { 'text/plain': { schema: text } },
    },
    ...problemAnswers(
      ['parameters'],
      [...problems, 'body-too-large', 'unsupported-media-type', 'unavailable', 'no-answer'],
    ),
  },
};

const stream: JsonNode = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        '`event: listening` says that callbacks come from now on. Of `event: request` the `data` is a ListenerRequest, of `event: over` the `id` of a request whose answer nobody waits for any more: as JSON on one line. A comment comes every 15 seconds at least.',
    },
    examples: {
      request: {
        value:
          'event: request\ndata: {"id":"…","headers":{"webhook-id":"a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11", …},"body":"eyJhY3Rpb24iOiJv…"}\n\n',
      },
    },
  },
};

const streamRequests: JsonNode = {
  tags,
  operationId: 'streamRequests',
  summary: 'Read the callbacks of a listener',
  description:
    'Server-sent events, until the client closes the connection or the listener ends. Connect again where it is cut.',
  security,
  responses: {
    200: { ...success('The stream.', null), content: stream },
    ...problemAnswers(['any-interface', 'parameters'], problems),
  },
};

export const listenerSchemas: Record<string, JsonNode> = {
  Listener: object(['guid', 'actions', 'signing_secret', 'verification_token', 'life_ms', 'answer_limit_ms'], {
    guid,
    actions: { type: 'array', items: text },
    signing_secret: { ...text, description: 'Of its callbacks: not that of the client of the token.' },
    verification_token: { ...text, description: 'As `X-Service-Verification-Token` in each of its callbacks.' },
    life_ms: { ...milliseconds, description: 'So long it lives without its stream.' },
    answer_limit_ms: {
      ...milliseconds,
      description: 'So long a callback waits for its answer, unless its deliverer waits for less.',
    },
  }),
  ListenerRequest: object(['id', 'headers', 'body'], {
    id: text,
    headers: { type: 'object', additionalProperties: text },
    body: { type: 'string', contentEncoding: 'base64', description: 'The bytes that were sent.' },
  }),
};
