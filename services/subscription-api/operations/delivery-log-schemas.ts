import { DELIVERY_STATUSES, WAITING_REASONS } from '@waybell/delivery-log/read/entries';
import { noSubscriptionCauses } from '@waybell/line/reasons';
import { guid, moment, object, schemaRef, text, type JsonNode } from './json-node.ts';

const ms: JsonNode = { type: 'integer', minimum: 0 };

/** The reason of a failed delivery, with its meaning and remedy. */
export const whyProperties = {
  reason: { type: 'string', description: 'Of those that failure-reasons.md lists.', examples: ['response_timeout'] },
  meaning: { type: 'string', description: 'What the reason says, for people.' },
  remedy: { type: 'string', description: 'What can be done about it, for people.' },
};

export const waitingReason = {
  enum: WAITING_REASONS,
  description:
    "`full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.",
};

export const attemptProperties = {
  attempt: { type: 'integer', minimum: 1, description: 'As `X-Webhook-Attempt`.' },
  at: { ...moment, description: 'When it ended.' },
  kind: {
    enum: ['delivered', 'failed', 'exhausted', 'dropped'],
    description:
      '`failed`: another follows at `retry_at`. `exhausted`: it was the last one, the delivery is given up. `dropped`: no request was made.',
  },
  by_hand: { enum: ['resend', 'test'], description: 'Only where no event caused it.' },
  waited: { ...waitingReason, description: `Only where it waited before, and why. ${waitingReason.description}` },
  http_status: { type: 'integer', description: 'What the receiver answered.' },
  ...whyProperties,
  retry_at: { ...moment, description: 'When the next attempt is due.' },
  duration_ms: { ...ms, description: 'From its start until the receiver had answered, or it was given up.' },
  url: { type: 'string', description: 'Where the request went, or was to go; values in the query are `***`.' },
  ip: { type: 'string', description: 'The address connected to.' },
  dns_ms: { ...ms, description: 'With the next two: of the connection, where one was made for this attempt.' },
  connect_ms: ms,
  tls_ms: ms,
  first_byte_ms: { ...ms, description: 'From the start of the attempt until the status line.' },
  answer: {
    type: 'string',
    description:
      "The beginning of the answer's body, or of what came where that was no whole answer. Only where one delivery is asked for.",
  },
  broken_rule: {
    type: 'string',
    description: 'With `invalid_response`: why what came is no response of HTTP, in words.',
  },
  error: {
    type: 'string',
    description: 'Where no status came: what OpenSSL or the system said, such as `ERR_SSL_DH_KEY_TOO_SMALL`.',
  },
  location: {
    type: 'string',
    description: 'With `redirect`: where it leads; values in the query are `***`.',
  },
};

const keys = {
  type: 'array',
  description: 'What it is about: order, vehicles, offer and so on, by each name.',
  items: object(['kind', 'key'], {
    kind: { type: 'string', examples: ['order_guid', 'order_id', 'vin'] },
    key: { type: 'string', examples: ['4711'] },
  }),
};

export const deliveryProperties = {
  guid: { ...guid, description: 'As `webhook-id`.' },
  event_guid: guid,
  action: text,
  keys: { ...keys, description: `${keys.description} None where the log does not have its event any more.` },
  subscription_guid: guid,
  at: { ...moment, description: 'When it was made.' },
  status: {
    enum: DELIVERY_STATUSES,
    description:
      '`waiting`: for its first attempt. `retrying`: the last attempt failed, another is due. `exhausted`: given up after the last. `dropped`: there was no subscription any more to send it to.',
  },
  ...whyProperties,
  next_attempt_at: { ...moment, description: 'While it is retried.' },
  waiting: {
    type: 'object',
    description:
      'Only while it waits in Postgres: nearly always for its endpoint (account, scheme, host, port and path).',
    required: ['since', 'why'],
    properties: { since: moment, why: waitingReason },
  },
  deactivation: {
    type: 'object',
    description: 'Only where its end switched the subscription off.',
    required: ['at', 'rule'],
    properties: { at: moment, rule: { enum: ['exhausted', 'window'] } },
  },
};
export const requiredOfDelivery = [
  'guid',
  'event_guid',
  'action',
  'keys',
  'subscription_guid',
  'at',
  'status',
  'attempts',
];

/** Why an event came to nothing. */
export const suppressedProperties = {
  kind: { const: 'suppressed' },
  ...whyProperties,
  subscription_guid: {
    ...guid,
    description: 'Which one it was that got nothing, was off, had ended, or came later.',
  },
  cause: {
    enum: Object.keys(noSubscriptionCauses),
    description: 'Only with `no_subscription`: how it came about that there was none.',
  },
  cause_at: { ...moment, description: 'Since when it was switched off, when it had ended, or when it was made.' },
  rule: { enum: ['exhausted', 'window'], description: 'Which rule switched it off.' },
};

/** The schema of an event's result, with members that depend on the reader. */
export function verdict(ofDelivery: string, more: Record<'suppressed' | 'rejected', JsonNode>): JsonNode {
  return {
    description: 'What an event came to: a delivery, or why there is none.',
    oneOf: [
      object(['kind', 'delivery'], { kind: { const: 'delivery' }, delivery: schemaRef(ofDelivery) }),
      object(['kind', ...Object.keys(whyProperties)], { ...suppressedProperties, ...more.suppressed }),
      object(['kind', ...Object.keys(whyProperties), 'detail'], {
        kind: { const: 'rejected' },
        ...whyProperties,
        ...more.rejected,
        detail: { type: 'string', description: 'What of the event broke which rule.' },
      }),
    ],
  };
}

export const eventProperties = {
  event_guid: guid,
  action: text,
  at: { ...moment, description: 'When it was looked at.' },
  keys,
};
