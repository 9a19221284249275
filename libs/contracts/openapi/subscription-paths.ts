import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { answered } from './delivery-log-paths.ts';
import { schemaRef, type JsonNode } from './json-node.ts';
import { byGuid, links, type LinkTarget } from './links.ts';

const moment = { type: 'string', format: 'date-time' };

/** What a client has subscribed to: the same on each interface but for what answers are wrapped in. */
export function subscriptionPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  return {
    '/v1/subscriptions': {
      get: {
        tags: ['Subscriptions'],
        operationId: 'listSubscriptions',
        summary: 'See all subscriptions, and why one is switched off or suspended',
        description:
          "The client's current ones, by action, with the guids that tests and replays ask for. Those that were switched off are among them; those that were ended are not.",
        security: [{ accessToken: ['webhooks:read'] }],
        responses: {
          200: {
            ...success('The subscriptions.', answered(interfaces, { shipper: all, carrier: all })),
            links: links(interfaces, 'list', [...byGuid('/objects/0/guid', 'testSubscription'), replayed]),
          },
          ...problemAnswers(['any-interface']),
        },
      },
    },
  };
}

const replayed: LinkTarget = {
  operationId: 'createReplay',
  at: '/objects/0/guid',
  member: 'subscription_guid',
  others: { since: '2026-11-20T09:30:00Z' },
};

const all: JsonNode = {
  type: 'object',
  required: ['objects'],
  properties: { objects: { type: 'array', items: schemaRef('Subscription') } },
};

export const subscriptionSchemas: Record<string, JsonNode> = {
  Subscription: {
    type: 'object',
    required: ['guid', 'action', 'callback_url', 'is_active', 'created_at', 'changed_at'],
    properties: {
      guid: { type: 'string', format: 'uuid' },
      action: { type: 'string' },
      callback_url: { type: 'string', examples: ['https://receiver.example.com/waybell'] },
      is_active: { type: 'boolean', description: 'False once it was switched off.' },
      created_at: moment,
      changed_at: moment,
      deactivation: {
        type: 'object',
        description: 'Only where it was switched off: when, and by which rule.',
        required: ['at', 'rule'],
        properties: {
          at: moment,
          rule: {
            enum: ['exhausted', 'window'],
            description:
              '`exhausted`: every attempt of a delivery failed. `window`: every delivery of the last 24 hours, or of what the operator has set, failed.',
          },
        },
      },
      suspension: {
        type: 'object',
        description:
          'Only while the account lacks a feature that the action needs: nothing is sent, and the subscription stays.',
        required: ['reason', 'feature'],
        properties: { reason: { const: 'feature_off' }, feature: { enum: ['insurance', 'servicepay'] } },
      },
    },
  },
};
