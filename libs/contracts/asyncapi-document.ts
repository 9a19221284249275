/** The AsyncAPI document: what upstream publishes, what the line rejects, and the notices about both. */
import type { Action, JsonSchema } from '@waybell/catalog/action';
import { actionKey, reports } from '@waybell/catalog/actions';
import { eventSchema } from '@waybell/catalog/schemas';
import { waybellHeaders } from '@waybell/line/messages';
import {
  eventsExchange,
  operationsQueue,
  rejectedExchange,
  rejectedQueue,
  rejectionsQueue,
  otherNoticesExchange,
} from '@waybell/line/topology';
import type { Notice } from '@waybell/rejected/reject-event';
import { exampleCloudEvent, exampleEvent } from './example-event.ts';
import { families } from './families.ts';
import { operationsChannel } from './operations-channel.ts';
import { asPart } from './schema-documents.ts';

type Node = Readonly<Record<string, unknown>>;

const introduction = `What upstream publishes, as AMQP messages: one per event, to the topic exchange \`${eventsExchange}\` with the routing key
\`<interface>.<action>\`. Waybell declares the exchange; check for it passively and wait.

- Publish **persistent**, with **confirms**, and send again what was not confirmed, with the same guid and body: it is recognised
  for 24 hours. No order is kept.
- \`message_id\` equals \`guid\`, or is absent. Either message of a channel will do: the event itself, or the same as a CloudEvent 1.0
  in structured JSON, told apart by \`content_type\`.
- At most 1 MiB, after decompression where \`content_encoding\` is \`gzip\`; nesting at most 32; no duplicate keys, no NUL
  characters, valid UTF-8. Members that a schema does not name are left out of notifications and counted.
- \`date-time\` is RFC 3339 with up to nine fractional digits; the offset may lack its colon.
- What breaks the contract, and what no queue is bound for, is not returned: it goes to \`${rejectedQueue}\` with the reason,
  and a notice of it to \`${rejectionsQueue}\`, which the user that publishes may read.
- What becomes of subscriptions is told in \`${operationsQueue}\`, for the platform to tell its clients.`;

/** The AsyncAPI 3.0 document of the AMQP side, from Waybell's view: it receives events, and rejects invalid messages. */
export function asyncApiDocument({ catalog, version }: { catalog: readonly Action[]; version: string }): Node {
  const published = [...catalog, ...reports];
  return {
    asyncapi: '3.0.0',
    info: { title: 'Waybell events', version, description: introduction, license: { name: 'MIT' } },
    defaultContentType: 'application/json',
    servers: {
      broker: {
        host: '{host}:5672',
        protocol: 'amqp',
        protocolVersion: '0.9.1',
        description: 'RabbitMQ of the deployment.',
        variables: { host: { default: 'localhost' } },
      },
    },
    channels: {
      ...mapped(published, actionChannel),
      [rejectedQueue]: rejectedChannel,
      [rejectionsQueue]: noticesChannel,
      [operationsQueue]: operationsChannel,
    },
    operations: {
      ...mapped(published, receiveOperation),
      reject: {
        action: 'send',
        channel: { $ref: `#/channels/${rejectedQueue}` },
        summary: 'What breaks the contract, for operators.',
      },
      tell: {
        action: 'send',
        channel: { $ref: `#/channels/${rejectionsQueue}` },
        summary: 'Which events were rejected and why, for upstream.',
      },
      notify: {
        action: 'send',
        channel: { $ref: `#/channels/${operationsQueue}` },
        summary: 'Which subscriptions go off, come back or end, and which deliveries fail or wait for long.',
      },
    },
    components: { messageTraits: { event: eventTrait } },
  };
}

function mapped(catalog: readonly Action[], make: (action: Action) => Node): Record<string, Node> {
  return Object.fromEntries(catalog.map((action) => [actionKey(action), make(action)]));
}

const eventTrait = {
  headers: {
    type: 'object',
    properties: {
      traceparent: { type: 'string', description: 'W3C trace context. The one header that is read; none is copied.' },
    },
  },
};
const traits = [{ $ref: '#/components/messageTraits/event' }];

function actionChannel(action: Action): Node {
  const key = actionKey(action);
  return {
    address: key,
    title: key,
    description: `Published when ${action.description}.`,
    messages: {
      event: {
        name: key,
        title: key,
        contentType: 'application/json',
        payload: asPart(eventSchema(action)),
        bindings: { amqp: { messageType: key, bindingVersion: '0.3.0' } },
        examples: [{ name: 'event', payload: exampleEvent(action) }],
        traits,
      },
      cloudEvent: {
        name: `${key}, CloudEvent`,
        title: `${key} as a CloudEvent`,
        description:
          'In binary mode the attributes are headers, such as `cloudEvents:id`, and the body is `data` alone.',
        contentType: 'application/cloudevents+json',
        payload: asPart(cloudEventSchema(action)),
        examples: [{ name: 'cloudEvent', payload: exampleCloudEvent(action) }],
        traits,
      },
    },
    bindings: {
      amqp: {
        is: 'routingKey',
        exchange: { name: eventsExchange, type: 'topic', durable: true, autoDelete: false },
        bindingVersion: '0.3.0',
      },
    },
  };
}

function receiveOperation(action: Action): Node {
  const key = actionKey(action);
  const family = families.find(({ actions }) => actions.includes(action));
  return {
    action: 'receive',
    channel: { $ref: `#/channels/${key}` },
    summary: `Published when ${action.description}.`,
    ...(family === undefined ? {} : { tags: [{ name: family.title }] }),
  };
}

const rejectedChannel = {
  address: rejectedQueue,
  title: 'Rejected messages',
  description: `Bound to the fanout exchange \`${rejectedExchange}\`. Each message is the original bytes, to be published again after a fix: \`./waybell rejected\`.`,
  messages: {
    rejected: {
      name: 'rejected',
      title: 'The original message',
      contentType: 'application/octet-stream',
      payload: { description: 'The bytes as published, with their own content type and encoding.' },
      headers: {
        type: 'object',
        properties: {
          [waybellHeaders.reason]: { type: 'string', description: 'Why, in one word of a closed list.' },
          [waybellHeaders.detail]: {
            type: 'string',
            description: 'Which place, as a JSON pointer, and what belongs there.',
          },
          [waybellHeaders.at]: { type: 'string', format: 'date-time' },
          [waybellHeaders.queue]: { type: 'string', description: 'The queue from which it was taken.' },
          [waybellHeaders.exchange]: { type: 'string', description: 'The exchange to which it was published.' },
          [waybellHeaders.routingKey]: { type: 'string', description: 'The routing key that it was published with.' },
          [waybellHeaders.user]: {
            type: 'string',
            description: 'The user that published it, if it said so (user_id).',
          },
        },
      },
    },
  },
  bindings: {
    amqp: {
      is: 'queue',
      queue: { name: rejectedQueue, durable: true, exclusive: false, autoDelete: false },
      bindingVersion: '0.3.0',
    },
  },
};

/** The JSON Schema (2020-12) of an event of this action as a CloudEvent 1.0 in structured JSON. */
export function cloudEventSchema(action: Action): JsonSchema {
  const { $schema, title, description, properties } = eventSchema(action);
  // The schema of an event is an object's, so that it has properties.
  const { guid, occurred_at: time, parties, payload, ...rest } = properties as Record<string, JsonSchema>;
  return {
    $schema,
    title,
    description,
    type: 'object',
    required: ['specversion', 'id', 'source', 'type', 'time', 'data'],
    properties: {
      specversion: { const: '1.0' },
      id: guid,
      source: { type: 'string', format: 'uri-reference', minLength: 1 },
      type: { const: actionKey(action) },
      time,
      datacontenttype: { const: 'application/json' },
      data: {
        type: 'object',
        required: ['parties', 'payload'],
        properties: { parties, payload, ignored: rest['ignored'], error_message: rest['error_message'] },
      },
    },
  };
}

const text = (description: string) => ({ type: 'string', description });
const known = (description: string) => ({ type: ['string', 'null'], description });

/** Members of a notice: each is there, and null where it is not known. */
const noticeProperties = {
  guid: { ...known('Of the event, as far as it could be read; in lower case.'), format: 'uuid' },
  interface: { enum: ['shipper', 'carrier', null] },
  action: text('As it was published, without the interface where that is known.'),
  reason: text('Why, in one word of a closed list.'),
  place: known('What is wrong, as a JSON pointer into the published body.'),
  detail: known('What is expected there; null where it was no fault of the event.'),
  nearest: known('The nearest routing key that there is, where another was meant.'),
  message_id: known('As it was published.'),
  routing_key: text('As it was published.'),
  rejected_at: { type: 'string', format: 'date-time' },
} satisfies Record<keyof Notice, object>;

const noticesChannel = {
  address: rejectionsQueue,
  title: 'Notices of rejected events',
  description: `Bound to the fanout exchange \`${otherNoticesExchange}\`. One for each event that was rejected, but for \`newer_format\`; the oldest go after seven days, or beyond 64 MiB. Read them as the user that publishes.`,
  messages: {
    notice: {
      name: 'notice',
      title: 'An event was rejected',
      contentType: 'application/json',
      payload: { type: 'object', properties: noticeProperties, required: Object.keys(noticeProperties) },
      examples: [
        {
          name: 'notice',
          payload: {
            guid: '0d3f6a0e-61a5-4a6e-9a52-50f6c0b3f7b1',
            interface: 'carrier',
            action: 'order.createt',
            reason: 'unroutable',
            place: null,
            detail:
              'no queue takes key "carrier.order.createt" of exchange "waybell.events": a mistyped action? The nearest is carrier.order.created',
            nearest: 'carrier.order.created',
            message_id: '0d3f6a0e-61a5-4a6e-9a52-50f6c0b3f7b1',
            routing_key: 'carrier.order.createt',
            rejected_at: '2026-11-20T09:30:00.123Z',
          } satisfies Notice,
        },
      ],
    },
  },
  bindings: {
    amqp: {
      is: 'queue',
      queue: { name: rejectionsQueue, durable: true, exclusive: false, autoDelete: false },
      bindingVersion: '0.3.0',
    },
  },
};
