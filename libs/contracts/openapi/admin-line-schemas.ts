/** Schemas of the line for operators: what waits where, and what was rejected. */
import { waitingDestinations } from './admin-log-schemas.ts';
import { guid, object, text, type JsonNode } from './json-node.ts';

const count: JsonNode = { type: 'integer', minimum: 0 };
const exactly = (properties: JsonNode): JsonNode => object(Object.keys(properties), properties);

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
