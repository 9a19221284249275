import { deprecationHeaders, problemAnswers, success } from './answers.ts';
import { jsonOf, schemaRef, noBody, type JsonNode } from './json-node.ts';

const read = [{ accessToken: ['webhooks:read'] }];
const write = [{ accessToken: ['webhooks:write'] }];
const tags = ['Shipper interface'];

const action = {
  name: 'webhook_action',
  in: 'path',
  required: true,
  schema: schemaRef('ShipperActionName'),
  examples: { 'order.created': { value: 'order.created' } },
};

const envelope = (data: JsonNode): JsonNode => ({
  type: 'object',
  required: ['status', 'data'],
  properties: { status: { const: 'success' }, data },
});
const one = (schema: JsonNode) => envelope({ type: 'object', required: ['object'], properties: { object: schema } });
const list = (schema: JsonNode) =>
  envelope({ type: 'object', required: ['objects'], properties: { objects: { type: 'array', items: schema } } });
const subscription = schemaRef('ShipperSubscription');

const listActions = (operationId: string, summary: string): JsonNode => ({
  tags,
  operationId,
  summary,
  description:
    'Deprecated actions are left out; those of a feature are there only where it is enabled for the account.',
  security: read,
  responses: {
    200: success('The actions that can be subscribed to.', list(schemaRef('ShipperAction'))),
    ...problemAnswers(['token']),
  },
});

/** The endpoints of shipper-webhooks. */
export const shipperPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/public/webhooks/action_types': { get: listActions('listShipperActions', 'List actions') },
  '/webhooks/action_types': {
    get: listActions('listShipperActionsUnprefixed', 'List actions, at their other address'),
  },
  '/v1/public/webhooks': {
    get: {
      tags,
      operationId: 'listShipperSubscriptions',
      summary: 'List current subscriptions',
      description: "The client's own, those that were switched off too.",
      security: read,
      responses: {
        200: success('The subscriptions, by action.', list(subscription)),
        ...problemAnswers(['token']),
      },
    },
  },
  '/v1/public/webhooks/{webhook_action}/subscribe': {
    parameters: [action],
    post: {
      tags,
      operationId: 'subscribeShipper',
      summary: 'Subscribe to an action',
      description:
        'When subscribed already: replaces `callback_url` and `audit_field_set` and switches the subscription on; its guid and verification token stay.',
      security: write,
      requestBody: { required: true, content: jsonOf(schemaRef('ShipperSubscribeRequest')) },
      responses: {
        200: success(
          'The subscription.',
          one({ ...subscription, required: ['verification_token'] }),
          deprecationHeaders,
        ),
        ...problemAnswers(['token', 'action', 'body'], ['feature-off']),
      },
    },
  },
  '/v1/public/webhooks/{webhook_action}/unsubscribe': {
    parameters: [action],
    post: {
      tags,
      operationId: 'unsubscribeShipper',
      summary: 'Unsubscribe from an action',
      description: 'Without a body; an empty object is fine too.',
      security: write,
      requestBody: noBody,
      responses: {
        200: success('The subscription as it ended.', one(subscription), deprecationHeaders),
        ...problemAnswers(['token', 'action', 'body'], ['not-subscribed']),
      },
    },
  },
};
