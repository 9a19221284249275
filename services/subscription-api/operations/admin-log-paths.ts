import { KEY_PATTERN, LONGEST_KEY } from '@waybell/events/event';
import { problemAnswers, success } from './answers.ts';
import { BY_QUERY, deliveryFilters, keyKind, pageOf, pagingParameters } from './delivery-log-paths.ts';
import { actionName, guid, listOf, moment, schemaRef, type JsonNode } from './json-node.ts';

const operators = { tags: ['Delivery log'], security: [{ accessToken: ['admin'] }] };

const query = (name: string, description: string, schema: JsonNode): JsonNode => ({
  name,
  in: 'query',
  description,
  schema,
});
const account = query('account', 'Of this account alone.', guid);
const [limit = {}] = pagingParameters;
const listeners = query('listeners', 'Whether those of `./waybell listen` are meant, too.', {
  type: 'boolean',
  default: false,
});

/** Kinds that a text may be searched as. */
export const FOUND_KINDS = ['event', 'delivery', 'key', 'subscription', 'account'] as const;

/** The parameters that select one meaning of a text with several. */
export const whyParameters: readonly JsonNode[] = [
  query('as', 'What it is, where it may mean several things.', { enum: FOUND_KINDS }),
  keyKind,
  listeners,
  ...pagingParameters,
];

/** The parameters that say which deliveries an operator asks for. */
export const operatorDeliveryParameters: readonly JsonNode[] = [
  account,
  query('client', 'Of this client alone.', schemaRef('ClientId')),
  listeners,
  ...deliveryFilters({ ...actionName, examples: ['order.created'] }),
];

/** The parameters that say what of all that fails is asked for. */
export const failingParameters: readonly JsonNode[] = [
  query('since', 'From this time on; without it, of the last hour.', moment),
  account,
  listeners,
  limit,
];

/** The parameters that say whose waiting deliveries are asked for. */
export const waitingParameters: readonly JsonNode[] = [account, listeners, limit];

/** The parameters that say which subscriptions that are switched off are asked for. */
export const switchedOffParameters: readonly JsonNode[] = [account, limit];

/** The parameters that say which subscriptions of an account are asked for. */
export const subscriptionsParameters: readonly JsonNode[] = [listeners, ...pagingParameters];

/** The parameters that say which changes are asked for. */
export const auditParameters: readonly JsonNode[] = [
  account,
  query('subscription', 'Of this subscription alone.', guid),
  query('since', 'From this time on.', moment),
  limit,
];

const anything = {
  type: 'string',
  pattern: KEY_PATTERN,
  maxLength: LONGEST_KEY,
  description: 'a guid, a number, a VIN or another name of something',
  examples: ['4711', '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11'],
};

/** The same in the query. */
export const anythingInQuery: JsonNode = { ...query('anything', 'What is asked about.', anything), required: true };

const whyOperation = (operationId: string, how: string, asked: JsonNode): JsonNode => ({
  ...operators,
  operationId,
  summary: 'Tell why a callback did, or did not, arrive',
  description: `By an order number, a VIN, or the guid of anything: an event, a delivery, an order, a subscription, an account; an account also by its name. Where nothing is called exactly that, by a part of an account's name, the first eight digits of a guid (but for what events are about), or the host or the URL of subscriptions. What it is is found out; what may mean several things is listed, up to 20 of a kind. The same as \`./waybell why\`. ${how}`,
  parameters: asked['parameters'],
  responses: {
    200: success('What is known of it.', schemaRef('Told')),
    ...(asked['responses'] as JsonNode),
  },
});

/** Operators' paths to the delivery log, the tables and the audit log. */
export const adminLogPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/admin/why': {
    get: whyOperation('whyByQuery', BY_QUERY, {
      parameters: [anythingInQuery, ...whyParameters],
      responses: problemAnswers(['any-interface'], ['invalid-parameter', 'nothing-known', 'unknown-account']),
    }),
  },
  '/v1/admin/why/{anything}': {
    parameters: [{ name: 'anything', in: 'path', required: true, schema: anything }],
    get: whyOperation('why', `With slashes, dots or \`%\` in it, ask \`/v1/admin/why?anything=\`.`, {
      parameters: whyParameters,
      responses: problemAnswers(['any-interface', 'parameters'], ['nothing-known', 'unknown-account']),
    }),
  },
  '/v1/admin/deliveries': {
    get: {
      ...operators,
      operationId: 'listDeliveries',
      summary: 'Find deliveries of all accounts',
      description:
        'Those that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for. By `endpoint` without `account`, those of subscriptions that have ended are left out.',
      parameters: operatorDeliveryParameters,
      responses: {
        200: success('Deliveries.', pageOf('OperatorDelivery')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', 'unknown-account']),
      },
    },
  },
  '/v1/admin/failing': {
    get: {
      ...operators,
      operationId: 'listFailing',
      summary: 'See what fails now',
      description: 'Tests count in none of it. The same as `./waybell failing`.',
      parameters: failingParameters,
      responses: {
        200: success('What fails, each list by itself up to `limit`.', schemaRef('Failing')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', 'unknown-account']),
      },
    },
  },
  '/v1/admin/waiting': {
    get: {
      ...operators,
      operationId: 'listWaiting',
      summary: 'List what waits, and why',
      description: 'What has waited longest first. The same as `./waybell waiting list`.',
      parameters: waitingParameters,
      responses: {
        200: success('What waits, each list by itself up to `limit`.', schemaRef('Waiting')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', 'unknown-account']),
      },
    },
  },
  '/v1/admin/switched-off': {
    get: {
      ...operators,
      operationId: 'listSwitchedOff',
      summary: 'List the subscriptions that are switched off now',
      description: 'The one that was switched off last comes first.',
      parameters: switchedOffParameters,
      responses: {
        200: success('Subscriptions.', listOf('SwitchedOff')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', 'unknown-account']),
      },
    },
  },
  '/v1/admin/held-deactivations': {
    get: {
      ...operators,
      operationId: 'listHeldDeactivations',
      summary: 'List the subscriptions that a rule would switch off now, and that are held',
      description:
        'So many would be at once that the fault may be ours. The one that was held first comes first. What becomes of them, `./waybell deactivations` says.',
      parameters: switchedOffParameters,
      responses: {
        200: success('Subscriptions.', listOf('HeldDeactivation')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', 'unknown-account']),
      },
    },
  },
  '/v1/admin/accounts/{guid}/subscriptions': {
    parameters: [{ name: 'guid', in: 'path', required: true, schema: guid }],
    get: {
      ...operators,
      tags: ['Accounts'],
      operationId: 'listSubscriptionsOfAccount',
      summary: 'List the subscriptions of an account',
      description: 'Current and ended ones, the newest first.',
      parameters: subscriptionsParameters,
      responses: {
        200: success('Subscriptions.', pageOf('OperatorSubscription')),
        ...problemAnswers(['any-interface', 'parameters'], ['unknown-account']),
      },
    },
  },
  '/v1/admin/audit': {
    get: {
      ...operators,
      tags: ['Accounts'],
      operationId: 'listChanges',
      summary: 'See who changed accounts, tokens, secrets, subscriptions and stops',
      description: 'The last change first. The same as `./waybell audit`.',
      parameters: auditParameters,
      responses: {
        200: success('Changes.', listOf('Change')),
        ...problemAnswers(['any-interface'], ['invalid-parameter', 'unknown-account']),
      },
    },
  },
};
