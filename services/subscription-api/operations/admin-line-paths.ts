/** The line for operators: what waits in each queue, and what was rejected; its paths, bodies and schemas. */
import { KEY_PATTERN, LONGEST_KEY } from '@waybell/events/event';
import { waitingDestinations } from './admin-log-schemas.ts';
import { problemAnswers, success } from './answers.ts';
import { count, exactly, guid, jsonOf, object, schemaRef, text, type JsonNode } from './json-node.ts';

const line = { tags: ['Line'], security: [{ accessToken: ['admin'] }] };

const reason = { type: 'string', minLength: 1, maxLength: 100, examples: ['payload_invalid'] };
const about = {
  type: 'string',
  pattern: KEY_PATTERN,
  maxLength: LONGEST_KEY,
  description: 'a guid, a number, a VIN or another name of something',
  examples: ['4711'],
};

/** Limits of a list of messages. */
const LISTED = { default: 100, most: 1_000 };

/** The parameters that say which rejected messages are asked for. */
export const rejectedParameters: readonly JsonNode[] = [
  { name: 'reason', in: 'query', description: 'Only those of this reason.', schema: reason },
  { name: 'about', in: 'query', description: 'Only those that name it anywhere in their text.', schema: about },
  {
    name: 'limit',
    in: 'query',
    description: 'How many, at most.',
    schema: { type: 'integer', minimum: 1, maximum: LISTED.most, default: LISTED.default },
  },
];

const choice = {
  ids: {
    type: 'array',
    minItems: 1,
    maxItems: 1_000,
    items: { type: 'string', minLength: 1, maxLength: 200 },
    description: 'Ids or message ids, or guids of events.',
  },
  reason: { ...reason, description: 'All of this reason.' },
  about: { ...about, description: `all that name ${about.description}` },
  all: { type: 'boolean', enum: [true], description: 'All that lie there.' },
};

/** The body of a request to put rejected messages back on the line: exactly one of these. */
export const retryRequest: JsonNode = { type: 'object', properties: choice, additionalProperties: false };

/** The body of a request to delete rejected messages. */
export const purgeRequest: JsonNode = {
  type: 'object',
  properties: {
    ...choice,
    confirm: { type: 'boolean', default: false, description: 'Without it, it is only told what would be deleted.' },
  },
  additionalProperties: false,
};

const idInPath = {
  name: 'id',
  in: 'path',
  required: true,
  schema: about,
  description:
    'Its id or message id, the guid of the event, or any key that only this one names; of a key with slashes, `/v1/admin/rejected?about=` tells the id.',
};

/** Problems that RabbitMQ may cause. */
const OF_BROKER = ['no-broker'] as const;
const OF_REJECTED = [...OF_BROKER, 'rejected-taken'] as const;

/** Operators' paths to inspect and change the line. */
export const adminLinePaths: Readonly<Record<string, JsonNode>> = {
  '/v1/admin/queues': {
    get: {
      ...line,
      operationId: 'listQueues',
      summary: 'See what waits in every queue, and in Postgres for RabbitMQ',
      responses: {
        200: success('The queues that there are.', schemaRef('Queues')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', ...OF_BROKER]),
      },
    },
  },
  '/v1/admin/rejected': {
    get: {
      ...line,
      operationId: 'listRejected',
      summary: 'List what the line refused',
      description: 'Oldest first. The same as `./waybell rejected list`.',
      parameters: rejectedParameters,
      responses: {
        200: success('Rejected messages, without their bodies.', schemaRef('RejectedList')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', ...OF_REJECTED]),
      },
    },
  },
  '/v1/admin/rejected/{id}': {
    parameters: [idInPath],
    get: {
      ...line,
      operationId: 'getRejected',
      summary: 'See a rejected message and its body',
      responses: {
        200: success('The message.', schemaRef('RejectedDetail')),
        ...problemAnswers(['any-interface', 'parameters'], ['unknown-rejected', 'several-rejected', ...OF_REJECTED]),
      },
    },
  },
  '/v1/admin/rejected/{id}/publish': {
    parameters: [{ ...idInPath, description: 'Its id.' }],
    post: {
      ...line,
      operationId: 'publishCorrected',
      summary: 'Publish a rejected event, corrected',
      description:
        'Send the event as it is to be published, digit for digit, up to 1 MiB. It is checked as `./waybell publish` checks it, and takes the place of the rejected one once RabbitMQ has confirmed it.',
      requestBody: { required: true, content: jsonOf({ type: 'object' }) },
      responses: {
        200: success('It is on the line, and the rejected one is gone.', schemaRef('CorrectedEvent')),
        ...problemAnswers(
          ['any-interface', 'parameters'],
          [
            'body-too-large',
            'unsupported-media-type',
            'invalid-body',
            'unknown-rejected',
            'not-an-event',
            ...OF_REJECTED,
          ],
        ),
      },
    },
  },
  '/v1/admin/rejected/{id}/check': {
    parameters: [{ ...idInPath, description: 'The id of the one that it is meant for: it is not looked for.' }],
    post: {
      ...line,
      operationId: 'checkCorrected',
      summary: 'Check a corrected event, without publishing it',
      description:
        'Send what is to be published. The answer is what publishing it would say of it; RabbitMQ is not asked, and nothing changes.',
      requestBody: { required: true, content: jsonOf({ type: 'object' }) },
      responses: {
        200: success('It would be taken.', schemaRef('CorrectedEvent')),
        ...problemAnswers(
          ['any-interface', 'parameters'],
          ['body-too-large', 'unsupported-media-type', 'invalid-body'],
        ),
      },
    },
  },
  '/v1/admin/rejected/retry': {
    post: {
      ...line,
      operationId: 'retryRejected',
      summary: 'Put rejected messages back on the line',
      description:
        'Puts them back where they came from; each is removed once RabbitMQ has confirmed it. Say which by exactly one member. The same as `./waybell rejected retry`.',
      requestBody: { required: true, content: jsonOf(retryRequest) },
      responses: {
        200: success('What became of them.', schemaRef('Retried')),
        ...problemAnswers(['any-interface', 'body'], ['unknown-rejected', ...OF_REJECTED]),
      },
    },
  },
  '/v1/admin/rejected/purge': {
    post: {
      ...line,
      operationId: 'purgeRejected',
      summary: 'Delete rejected messages for good',
      description:
        'Say which by exactly one member. Without `confirm` nothing is deleted. The same as `./waybell rejected purge`.',
      requestBody: { required: true, content: jsonOf(purgeRequest) },
      responses: {
        200: success('What was, or would be, deleted.', schemaRef('Purged')),
        ...problemAnswers(['any-interface', 'body'], ['unknown-rejected', ...OF_REJECTED]),
      },
    },
  },
};

/** Members that every rejected message has. */
const facts = {
  id: {
    ...text,
    pattern: '^[0-9a-f]{10}$',
    description: 'Made of the message itself: the same as long as it lies there.',
  },
  reason: { ...text, description: 'Of those that failure-reasons.md lists.', examples: ['payload_invalid'] },
  detail: { ...text, description: 'What exactly is wrong; may be empty.' },
  rejected_at: { type: ['string', 'null'], format: 'date-time' },
  queue: { ...text, description: 'Where it was rejected.' },
  exchange: { ...text, description: 'By which it had come.' },
  routing_key: text,
  size: { ...count, description: 'Of its body, in bytes.' },
};
/** Members that it has if it was published with them. */
const properties = {
  message_id: text,
  user_id: { ...text, description: 'Who published it, where RabbitMQ has checked that.' },
  type: text,
  correlation_id: text,
  content_type: text,
  content_encoding: text,
  traceparent: text,
};

const isComplete = {
  type: 'boolean',
  description: 'False: there was no time for all that lie there. Ask again.',
};

export const adminLineSchemas: Record<string, JsonNode> = {
  Queue: exactly({
    name: text,
    messages: { ...count, description: 'Ready to be taken.' },
    consumers: count,
    is_known: {
      type: 'boolean',
      description: 'False: RabbitMQ answered in a way that it answers in when it does not know.',
    },
  }),
  Queues: exactly({
    objects: { type: 'array', items: { $ref: '#/components/schemas/Queue' } },
    waiting: waitingDestinations,
  }),
  Rejected: object(Object.keys(facts), { ...facts, ...properties }),
  RejectedList: exactly({
    objects: { type: 'array', items: { $ref: '#/components/schemas/Rejected' } },
    is_complete: isComplete,
  }),
  RejectedDetail: object([...Object.keys(facts), 'body', 'body_encoding'], {
    ...facts,
    ...properties,
    body: { ...text, description: 'Decompressed; records of what became of deliveries as they read.' },
    body_encoding: { enum: ['utf-8', 'base64'], description: '`base64`: it is no text, and told as it lies there.' },
  }),
  Retried: exactly({
    retried: { ...count, description: 'How many are back on the line; what is still wrong is rejected again.' },
    stayed: count,
    objects: {
      type: 'array',
      description: 'What became of the first 1,000.',
      items: {
        oneOf: [
          exactly({ id: text, kind: { const: 'retried' }, to: { ...text, description: 'Where it went.' } }),
          exactly({ id: text, kind: { const: 'stays' }, why: text }),
        ],
      },
    },
    is_complete: isComplete,
  }),
  Purged: exactly({
    is_deleted: { type: 'boolean', description: 'False: it was not confirmed, and they are still there.' },
    count: { ...count, description: 'How many were deleted, or would be.' },
    objects: { type: 'array', description: 'The first 1,000.', items: { $ref: '#/components/schemas/Rejected' } },
    is_complete: isComplete,
  }),
  CorrectedEvent: exactly({
    event_guid: guid,
    routing_key: text,
    unknown_members: {
      type: 'array',
      description: 'Members that the contract does not know: notifications leave them out.',
      items: { ...text, examples: ['/payload/colour'] },
    },
  }),
};
