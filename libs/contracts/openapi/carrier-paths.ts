import { deprecationHeaders, problemAnswers, success } from './answers.ts';
import { jsonOf, schemaRef, noBody, type JsonNode } from './json-node.ts';

const read = [{ accessToken: ['webhooks:read'] }];
const write = [{ accessToken: ['webhooks:write'] }];
const tags = ['Carrier interface'];

const action = {
  name: 'webhook_action',
  in: 'path',
  required: true,
  schema: schemaRef('CarrierActionName'),
  examples: { 'order.created': { value: 'order.created' } },
};
const subscription = schemaRef('CarrierSubscription');

const subscriptionsOfAction = {
  parameters: [action],
  get: {
    tags,
    operationId: 'listCarrierSubscriptions',
    summary: 'Look at the subscription to an action',
    description: 'Shows whether it was switched off.',
    security: read,
    responses: {
      200: success(
        'The current subscription of the client, or none.',
        { type: 'array', items: subscription, maxItems: 1 },
        deprecationHeaders,
      ),
      ...problemAnswers(['token', 'action']),
    },
  },
  post: {
    tags,
    operationId: 'subscribeCarrier',
    summary: 'Subscribe to an action',
    description: 'When subscribed already, active or switched off: 409. DELETE the subscription first.',
    security: write,
    requestBody: { required: true, content: jsonOf(schemaRef('CarrierSubscribeRequest')) },
    responses: {
      201: success(
        'The subscription, with a new verification token.',
        { ...subscription, required: ['verification_token'] },
        deprecationHeaders,
      ),
      ...problemAnswers(['token', 'action', 'body'], ['already-subscribed']),
    },
  },
  delete: {
    tags,
    operationId: 'unsubscribeCarrier',
    summary: 'Unsubscribe from an action',
    security: write,
    requestBody: noBody,
    responses: {
      204: success('The client is no longer subscribed.', null, deprecationHeaders),
      ...problemAnswers(['token', 'action', 'body'], ['not-subscribed']),
    },
  },
};

/** The endpoints of carrier-webhooks, and one to see a subscription. */
export const carrierPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/webhooks/': {
    get: {
      tags,
      operationId: 'listCarrierActions',
      summary: 'List actions',
      description: 'Deprecated actions are left out.',
      security: read,
      responses: {
        200: success('The actions that can be subscribed to.', { type: 'array', items: schemaRef('CarrierAction') }),
        ...problemAnswers(['token']),
      },
    },
  },
  '/v1/webhooks/{webhook_action}/subscriptions/': subscriptionsOfAction,
};
