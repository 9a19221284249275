import { problemAnswers, success } from './answers.ts';
import { guid, jsonOf, object, schemaRef, text, bareLinks, byGuid, noBody, type JsonNode } from './json-node.ts';
import { nodeOf } from './schema.ts';
import { stopped as stoppedSchema } from './subscriptions.ts';

const stopped = nodeOf(stoppedSchema);

const operators = { tags: ['Stops'], security: [{ accessToken: ['admin'] }] };
const guidInPath = { name: 'guid', in: 'path', required: true, schema: guid };
const hostInPath = {
  name: 'host',
  in: 'path',
  required: true,
  schema: { ...text, examples: ['receiver.example.com'] },
  description: 'Without a port.',
};

/** The body of a request to stop a subscription or a host. */
export const stopRequest: JsonNode = {
  ...object(['reason'], {
    reason: {
      type: 'string',
      pattern: String.raw`^\P{C}{1,200}$`,
      description: 'a text of 1 to 200 printable characters; clients see it',
      examples: ['the receiver is being moved'],
    },
  }),
  additionalProperties: false,
};

const requestBody = { required: true, content: jsonOf(stopRequest) };

/** Paths to stop and start subscriptions and hosts. */
export const adminStopPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/admin/stops': {
    get: {
      ...operators,
      operationId: 'listStops',
      summary: 'List the subscriptions and the hosts that are stopped',
      description: 'The one that was stopped last comes first.',
      responses: {
        200: {
          ...success('What is stopped.', schemaRef('Stops')),
          links: bareLinks(byGuid('/subscriptions/0/guid', 'startSubscription')),
        },
        ...problemAnswers(['any-interface'], ['invalid-parameter']),
      },
    },
  },
  '/v1/admin/subscriptions/{guid}/stop': {
    parameters: [guidInPath],
    post: {
      ...operators,
      operationId: 'stopSubscription',
      summary: 'Have the deliveries of a subscription wait',
      description:
        'Until it is started, or they are too old. Its client sees that, and why, and cannot end it: a new subscription is still stopped. Stopped again, the new reason counts.',
      requestBody,
      responses: {
        200: success(
          'The subscription that its client has to the action now, or had last.',
          schemaRef('OperatorSubscription'),
        ),
        ...problemAnswers(['any-interface', 'body', 'parameters'], ['not-subscribed']),
      },
    },
  },
  '/v1/admin/subscriptions/{guid}/start': {
    parameters: [guidInPath],
    post: {
      ...operators,
      operationId: 'startSubscription',
      summary: 'Have a stopped subscription go on',
      description: 'What waits is sent now, unless it is paused, or its host is stopped.',
      requestBody: noBody,
      responses: {
        200: success(
          'The subscription that its client has to the action now, or had last.',
          schemaRef('OperatorSubscription'),
        ),
        ...problemAnswers(['any-interface', 'body', 'parameters'], ['not-subscribed', 'not-stopped']),
      },
    },
  },
  '/v1/admin/hosts/{host}/stop': {
    parameters: [hostInPath],
    post: {
      ...operators,
      operationId: 'stopHost',
      summary: 'Have all callbacks to a host wait',
      description:
        'Whichever accounts they are of, to any port, until it is started, or they are too old. Clients see that, and why. Stopped again, the new reason counts.',
      requestBody,
      responses: {
        200: success('The host.', schemaRef('StoppedHost')),
        ...problemAnswers(['any-interface', 'body', 'parameters']),
      },
    },
  },
  '/v1/admin/hosts/{host}/start': {
    parameters: [hostInPath],
    post: {
      ...operators,
      operationId: 'startHost',
      summary: 'Have callbacks to a stopped host go on',
      description: 'What waits is sent now, but for what is paused or stopped by itself.',
      requestBody: noBody,
      responses: {
        204: success('It is no longer stopped.', null),
        ...problemAnswers(['any-interface', 'body', 'parameters'], ['not-stopped']),
      },
    },
  },
};

const many = (entry: string): JsonNode => ({ type: 'array', items: schemaRef(entry) });

export const adminStopSchemas: Record<string, JsonNode> = {
  StoppedHost: object(['host', 'at', 'reason', 'subscriptions'], {
    host: text,
    ...(stopped['properties'] as JsonNode),
    subscriptions: { type: 'integer', minimum: 0, description: 'Current ones whose callbacks go there.' },
  }),
  Stops: object(['subscriptions', 'hosts'], {
    subscriptions: {
      ...many('OperatorSubscription'),
      description: 'Also those that their clients ended: new ones are still stopped.',
    },
    hosts: many('StoppedHost'),
  }),
};
