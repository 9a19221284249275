/**
 * The delivery log for clients, the same on each interface but for the wrapping of answers: timelines, deliveries and counts; and the
 * parameters and answers that other paths share with them.
 */
import type { Interface } from '@waybell/catalog/action';
import { PLACE_PATTERN } from '@waybell/delivery-log/read/commits';
import { CURSOR_PATTERN } from '@waybell/delivery-log/read/cursor';
import { DELIVERY_STATUSES } from '@waybell/delivery-log/read/entries';
import { BEGINNING_PATTERN } from '@waybell/delivery-log/read/first-digits';
import { PAGE_SIZE } from '@waybell/delivery-log/read/limits';
import { LONGEST_ENDPOINT } from '@waybell/delivery-log/read/subscriptions';
import { KEY_PATTERN, LONGEST_KEY } from '@waybell/events/event';
import { deliveryReasons } from '@waybell/line/reasons';
import { problemAnswers, success } from './answers.ts';
import { byGuid, countOf, exactly, guid, links, moment, schemaRef, text, type JsonNode } from './json-node.ts';

const tags = ['Delivery log'];
const security = [{ accessToken: ['webhooks:read'] }];
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

/** The key, in the query. */
export const keyInQuery: JsonNode = { ...query('key', 'What is asked about.', key), required: true };

/** Why there is a query beside a path. */
export const BY_QUERY =
  'Proxies change what a path has, such as an encoded slash, and leave a query as it is: ask so where people choose the key.';

/** The parameters that say what of a timeline is asked for. */
export const timelineParameters: readonly JsonNode[] = [keyKind, ...pagingParameters];

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

/** The parameters that say which deliveries a client asks for. */
export const deliveryParameters = (interfaces: readonly Interface[]): JsonNode[] => [
  ...deliveryFilters(anyOf(interfaces.map((name) => schemaRef(ACTION_NAMES[name])))),
  query(
    'after',
    'Reads the log on in its own order, for reconciling: `oldest`, a time (what is kept from then on), or the `next` of the page before. Beside it go `include`, `wait`, `limit`, `action`, `status` and `reason`.',
    {
      type: 'string',
      pattern: AFTER_PATTERN,
      description: '`oldest`, an RFC 3339 timestamp such as 2026-11-20T09:30:00Z, or the `next` of a page before',
      examples: ['oldest', '2026-11-20T00:00:00Z'],
    },
  ),
  query('include', 'With `after`: what was sent, too.', { enum: ['body'] }),
  query('wait', 'With `after`: how long to wait for something new, where there is nothing.', {
    type: 'string',
    pattern: '^([1-9]|1[0-9]|20)s$',
    description: 'from 1s to 20s',
    examples: ['20s'],
  }),
];

/** The time in it is read as any other. */
const AFTER_PATTERN = String.raw`^oldest$|^[0-9-]{10}[Tt][0-9:.]{8,18}([Zz]|[+-][0-9:]{4,5})$|${PLACE_PATTERN}`;

const anyOf = ([first = {}, ...others]: JsonNode[]) => (others.length === 0 ? first : { anyOf: [first, ...others] });

const ACTION_NAMES: Record<Interface, string> = { shipper: 'ShipperActionName', carrier: 'CarrierActionName' };

/** The endpoints of the delivery log, the same on each interface but for what answers are wrapped in. */
export function deliveryLogPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const page = (entry: string, others: JsonNode = {}) =>
    answered(interfaces, { shipper: pageOf(entry, others), carrier: pageOf(entry, others) });
  const one = (entry: string) => answered(interfaces, { shipper: objectOf(entry), carrier: schemaRef(entry) });
  const timeline = (operationId: string, how: string, asked: JsonNode): JsonNode => ({
    tags,
    operationId,
    summary: 'See everything about an order, a vehicle, an offer …',
    description: `The events that the account was to hear of, newest first: what was sent to the client, what its receiver said, and what was not sent and why. Ask by any name of it, however it is spelled: a guid in an event's payload, the number of an order (\`number\`, \`id\`, \`order_id\`, \`purchase_order_number\`), a VIN, the \`subject\` of a CloudEvent, or the guid of the event itself. ${how}`,
    security,
    parameters: asked['parameters'],
    responses: {
      200: {
        ...success('Events; none where nothing is known of it.', page('TimelineEvent')),
        links: links(interfaces, 'list', byGuid('/objects/0/verdicts/0/delivery/guid', 'getDelivery')),
      },
      ...(asked['responses'] as JsonNode),
    },
  });
  return {
    '/v1/timeline': {
      get: timeline('findTimeline', BY_QUERY, {
        parameters: [keyInQuery, ...timelineParameters],
        responses: problemAnswers(['any-interface'], ['invalid-parameter']),
      }),
    },
    '/v1/timeline/{key}': {
      parameters: [{ name: 'key', in: 'path', required: true, schema: key }],
      get: timeline('getTimeline', `With a key that has slashes, dots or \`%\`, ask \`/v1/timeline?key=\`.`, {
        parameters: timelineParameters,
        responses: problemAnswers(['any-interface', 'parameters']),
      }),
    },
    '/v1/deliveries': {
      get: {
        tags,
        operationId: 'listDeliveries',
        summary: 'Find deliveries',
        description:
          'Those of the client that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for.\n\nWith `after`, those that ended, delivered or not, in the order in which the log was told so: each end once, however late it came to the log, as it stands when it is asked for. One that is sent again by hand comes again. There is always a `next` to go on from, and `more` says whether it leads on at once. Bodies of a page have 2 MiB together at most, unless its first alone has more. As long as bodies are kept: then 410.',
        security,
        parameters: deliveryParameters(interfaces),
        responses: {
          200: {
            ...success('Deliveries.', page('ListedDelivery', more)),
            links: links(interfaces, 'list', byGuid('/objects/0/guid', 'getDelivery', 'resendDelivery')),
          },
          ...problemAnswers(['any-interface'], ['invalid-parameter', 'no-longer-kept']),
        },
      },
    },
    '/v1/deliveries/{guid}': {
      parameters: [{ name: 'guid', in: 'path', required: true, schema: guid, description: 'As `webhook-id`.' }],
      get: {
        tags,
        operationId: 'getDelivery',
        summary: 'See a delivery, its attempts and what was sent',
        description: 'One of the client, or of a listener of it.',
        security,
        responses: {
          200: success('The delivery.', one('DeliveryDetail')),
          ...problemAnswers(['any-interface', 'parameters'], ['unknown-delivery']),
        },
      },
    },
  };
}

const more = {
  more: { type: 'boolean', description: 'Only with `after`: whether there is more than this page already.' },
};

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

/** Counts of a client's deliveries: the same on each interface, except for the wrapping of answers. */
export function statisticsPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const statistics = schemaRef('Statistics');
  return {
    '/v1/statistics': {
      get: {
        tags,
        operationId: 'getStatistics',
        summary: 'See how many deliveries arrived, hour by hour',
        description:
          'Of the client, in the last 24 whole hours and the one that runs: every action that is subscribed now, or that there is something of. An attempt counts in the hour in which it ended, so that what was sent again counts again; tests by hand never count. What is known late of an hour that is over may be told hours later.',
        security,
        responses: {
          200: success(
            'Counts by action and hour.',
            answered(interfaces, { shipper: statistics, carrier: statistics }),
          ),
          ...problemAnswers(['any-interface'], ['invalid-parameter']),
        },
      },
    },
  };
}

export const statisticsSchemas: Record<string, JsonNode> = {
  Statistics: exactly({
    since: { ...moment, description: 'The beginning of the first hour.' },
    until: { ...moment, description: 'When it was asked for.' },
    bucket_seconds: { const: 3_600 },
    objects: { type: 'array', description: 'By action.', items: schemaRef('StatisticsOfAction') },
  }),
  StatisticsOfAction: exactly({
    action: text,
    buckets: {
      type: 'array',
      description: 'Every hour, the first one first.',
      items: exactly({
        at: { ...moment, description: 'When the hour begins.' },
        delivered: countOf('Attempts that arrived.'),
        retried: countOf('Attempts that failed, after which another follows.'),
        given_up: countOf('Deliveries that were given up (`exhausted`) or dropped.'),
        suppressed: countOf('Events for the account that were not sent to the client.'),
      }),
    },
  }),
};
