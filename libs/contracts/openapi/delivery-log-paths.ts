import type { Interface } from '@waybell/catalog/action';
import { DELIVERY_STATUSES } from '@waybell/delivery-log/read/entries';
import { deliveryReasons } from '@waybell/line/reasons';
import { problemAnswers, success } from './answers.ts';
import { schemaRef, type JsonNode } from './json-node.ts';

/** How many entries a page has. */
export const PAGE_SIZE = { default: 50, most: 200 };

const tags = ['Delivery log'];
const security = [{ accessToken: ['webhooks:read'] }];
const guid = { type: 'string', format: 'uuid' };
const moment = { type: 'string', format: 'date-time', examples: ['2026-11-20T09:30:00Z'] };

const paging = [
  {
    name: 'limit',
    in: 'query',
    description: 'How many entries a page has at most.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE.most, default: PAGE_SIZE.default },
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'The `next` of the page before; what comes in meanwhile moves nothing.',
    schema: { type: 'string' },
  },
];

const query = (name: string, description: string, schema: JsonNode): JsonNode => ({
  name,
  in: 'query',
  description,
  schema,
});

const filters = (interfaces: readonly Interface[]): JsonNode[] => [
  query('subject', 'What they are about: the guid of an order, a vehicle, an offer …', guid),
  query('action', 'An action of the interface.', { anyOf: interfaces.map((name) => schemaRef(ACTION_NAMES[name])) }),
  query('status', 'How they stand.', { enum: DELIVERY_STATUSES }),
  query('reason', 'Why they were given up or dropped; with `status=retrying`, why the last attempt failed.', {
    enum: deliveryReasons,
  }),
  query('since', 'Made at this time or later.', moment),
  query('until', 'Made before this time.', moment),
];

const ACTION_NAMES: Record<Interface, string> = { shipper: 'ShipperActionName', carrier: 'CarrierActionName' };

/** The endpoints of the delivery log, the same on each interface but for what answers are wrapped in. */
export function deliveryLogPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const page = (entry: string) => answered(interfaces, { shipper: pageOf(entry), carrier: pageOf(entry) });
  const one = (entry: string) => answered(interfaces, { shipper: objectOf(entry), carrier: schemaRef(entry) });
  return {
    '/v1/timeline/{key}': {
      parameters: [{ name: 'key', in: 'path', required: true, schema: guid }],
      get: {
        tags,
        operationId: 'getTimeline',
        summary: 'See everything about an order, a vehicle, an offer …',
        description:
          "The events that the account was to hear of, newest first: what was sent to the client, what its receiver said, and what was not sent and why. Anything that an event's payload names by a guid can be asked for.",
        security,
        parameters: paging,
        responses: {
          200: success('Events; none where nothing is known of it.', page('TimelineEvent')),
          ...problemAnswers(['any-interface', 'parameters']),
        },
      },
    },
    '/v1/deliveries': {
      get: {
        tags,
        operationId: 'listDeliveries',
        summary: 'Find deliveries',
        description:
          'Those of the client that fulfil every condition, newest first; those that were exhausted or dropped by when that was. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for.',
        security,
        parameters: [...filters(interfaces), ...paging],
        responses: {
          200: success('Deliveries.', page('Delivery')),
          ...problemAnswers(['any-interface'], ['invalid-parameter']),
        },
      },
    },
    '/v1/deliveries/{guid}': {
      parameters: [{ name: 'guid', in: 'path', required: true, schema: guid, description: 'As `webhook-id`.' }],
      get: {
        tags,
        operationId: 'getDelivery',
        summary: 'See a delivery, its attempts and what was sent',
        security,
        responses: {
          200: success('The delivery.', one('DeliveryDetail')),
          ...problemAnswers(['any-interface', 'parameters'], ['unknown-delivery']),
        },
      },
    },
  };
}

function pageOf(entry: string): JsonNode {
  return {
    type: 'object',
    required: ['objects', 'next'],
    properties: {
      objects: { type: 'array', items: schemaRef(entry), maxItems: PAGE_SIZE.most },
      next: { type: ['string', 'null'], description: 'The `cursor` of the next page; null: there is none.' },
    },
  };
}

export function objectOf(entry: string): JsonNode {
  return { type: 'object', required: ['object'], properties: { object: schemaRef(entry) } };
}

/** Shippers get it wrapped, as their other answers; carriers get it bare. */
export function answered(
  interfaces: readonly Interface[],
  { shipper, carrier }: Record<Interface, JsonNode>,
): JsonNode {
  const forms: Record<Interface, JsonNode> = {
    shipper: {
      title: 'To a token of the shipper interface',
      type: 'object',
      required: ['status', 'data'],
      properties: { status: { const: 'success' }, data: shipper },
    },
    carrier: { title: 'To a token of the carrier interface', ...carrier },
  };
  return { oneOf: interfaces.map((name) => forms[name]) };
}
