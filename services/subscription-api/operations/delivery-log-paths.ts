/** Parameters and answers of the delivery log for areas that are no operations yet. */
import type { Interface } from '@waybell/catalog/action';
import { CURSOR_PATTERN } from '@waybell/delivery-log/read/cursor';
import { DELIVERY_STATUSES } from '@waybell/delivery-log/read/entries';
import { BEGINNING_PATTERN } from '@waybell/delivery-log/read/first-digits';
import { PAGE_SIZE } from '@waybell/delivery-log/read/limits';
import { LONGEST_ENDPOINT } from '@waybell/delivery-log/read/subscriptions';
import { KEY_PATTERN, LONGEST_KEY } from '@waybell/events/event';
import { deliveryReasons } from '@waybell/line/reasons';
import { guid, schemaRef, type JsonNode } from './json-node.ts';

const momentInQuery = { type: 'string', format: 'date-time', examples: ['2026-11-20T09:30:00Z'] };

/** The parameters by which a client goes from page to page. */
export const pagingParameters: readonly JsonNode[] = [
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
    schema: {
      type: 'string',
      pattern: CURSOR_PATTERN,
      description: 'the `next` of a page of the same request',
    },
  },
];

const key: JsonNode = {
  type: 'string',
  pattern: KEY_PATTERN,
  maxLength: LONGEST_KEY,
  description: 'a guid, a number, a VIN or another name of something',
  examples: ['4711', '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11'],
};

/** The parameter for the kind of a key. */
export const keyKind: JsonNode = {
  name: 'kind',
  in: 'query',
  description:
    'The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are.',
  schema: { type: 'string', pattern: '^[a-z_]{1,100}$', description: 'the kind of a key', examples: ['order_id'] },
};

const query = (name: string, description: string, schema: JsonNode): JsonNode => ({
  name,
  in: 'query',
  description,
  schema,
});

/** Why there is a query beside a path. */
export const BY_QUERY =
  'Proxies change what a path has, such as an encoded slash, and leave a query as it is: ask so where people choose the key.';

/** Filters of deliveries, for clients and operators alike. `action`: the schema of an action. */
export const deliveryFilters = (action: JsonNode): JsonNode[] => [
  query('key', 'What they are about, as for the timeline.', key),
  keyKind,
  query('guid', 'The guid of a delivery or of its event, or the first eight digits of it.', {
    type: 'string',
    pattern: BEGINNING_PATTERN,
    description: 'a guid, or its first eight digits',
    examples: ['1f0c9a52', '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11'],
  }),
  query('action', 'An action of the interface.', action),
  {
    ...query('status', 'How they stand: some of these, with commas between, such as `exhausted,dropped`.', {
      type: 'array',
      minItems: 1,
      maxItems: DELIVERY_STATUSES.length,
      items: { enum: DELIVERY_STATUSES },
    }),
    style: 'form',
    explode: false,
  },
  query('subscription', 'To this subscription alone.', guid),
  query(
    'endpoint',
    'To subscriptions whose callbacks go there now: a host, also with its port, an origin, or a URL, of which the query does not count.',
    {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_ENDPOINT,
      examples: ['receiver.example.com', 'https://receiver.example.com:8443', 'https://receiver.example.com/hooks'],
    },
  ),
  query('reason', 'Why they were given up or dropped; with `status=retrying`, why the last attempt failed.', {
    enum: deliveryReasons,
  }),
  query('since', 'Made at this time or later.', momentInQuery),
  query('until', 'Made before this time.', momentInQuery),
  ...pagingParameters,
];

export function pageOf(entry: string, others: JsonNode = {}): JsonNode {
  return {
    type: 'object',
    required: ['objects', 'next'],
    properties: {
      objects: { type: 'array', items: schemaRef(entry), maxItems: PAGE_SIZE.most },
      next: { type: ['string', 'null'], description: 'The `cursor` of the next page; null: there is none.' },
      ...others,
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
