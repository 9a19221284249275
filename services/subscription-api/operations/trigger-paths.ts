import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { answered, objectOf } from './delivery-log-paths.ts';
import { actionName, guid, jsonOf, object, schemaRef, text, byGuid, links, type JsonNode } from './json-node.ts';

/** The body of a request for an event that never happened. */
export const triggerRequest: JsonNode = {
  type: 'object',
  required: ['action'],
  additionalProperties: false,
  properties: {
    action: { ...actionName, examples: ['order.created'] },
    set: {
      type: 'object',
      maxProperties: 100,
      examples: [{ '/payload/id': 4711 }],
      description:
        'What is to be another than in the example, by JSON pointers into the event: places in `/payload`, `/occurred_at` and `/error_message`. Numbers go as they are written.',
    },
    everywhere: {
      type: 'boolean',
      default: false,
      description: "Whether the client's own subscription gets it although a listener runs.",
    },
  },
};

/** Events that never happened: the same on each interface but for what answers are wrapped in. */
export function triggerPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  return {
    '/v1/triggers': {
      post: {
        tags: ['Resend and replay'],
        operationId: 'trigger',
        summary: 'Have an example event sent to your own subscriptions',
        description:
          "The example of the action, as if it happened now, is checked as the platform's events are and sent to the listeners of the client, or, where none runs or `everywhere` is set, to its own subscription, also while that is switched off or paused: signed and retried as any other, with the header `X-Webhook-Test: true`. It counts for no deactivation.",
        security: [{ accessToken: ['webhooks:write'] }],
        requestBody: { required: true, content: jsonOf(triggerRequest) },
        responses: {
          202: {
            ...success(
              'It will be sent within a second or so.',
              answered(interfaces, { shipper: objectOf('Trigger'), carrier: schemaRef('Trigger') }),
            ),
            links: links(interfaces, 'object', byGuid('/deliveries/0/delivery_guid', 'getDelivery')),
          },
          ...problemAnswers(['any-interface', 'action', 'body'], ['feature-off', 'nobody-subscribed', 'stopped']),
        },
      },
    },
  };
}

const to = {
  subscription_guid: guid,
  is_listener: { type: 'boolean', description: 'Whether it is of a listener of the client.' },
};

export const triggerSchemas: Record<string, JsonNode> = {
  Trigger: object(['event_guid', 'unknown_members', 'deliveries', 'suppressed'], {
    event_guid: guid,
    unknown_members: {
      type: 'array',
      items: text,
      description: 'Places that the contract does not know: notifications of most actions leave them out.',
    },
    deliveries: {
      type: 'array',
      items: object(['delivery_guid', ...Object.keys(to)], {
        delivery_guid: { ...guid, description: 'As `webhook-id`.' },
        ...to,
      }),
    },
    suppressed: {
      type: 'array',
      description: 'Subscriptions that get nothing of such an event.',
      items: object(['reason', ...Object.keys(to)], { reason: { ...text, examples: ['links_missing'] }, ...to }),
    },
  }),
};
