/** Schemas of the delivery log for operators: of every account and client, with receivers' answers. */
import { noticeProperties } from '@waybell/contracts/operations-channel';
import {
  attemptProperties,
  deliveryProperties,
  eventProperties,
  requiredOfDelivery,
  verdict,
  waitingReason,
} from './delivery-log-schemas.ts';
import { count, exactly, guid, listOf, moment, object, schemaRef, text, type JsonNode } from './json-node.ts';
import { nodeOf } from './schema.ts';
import { stopped as stoppedSchema } from './subscriptions.ts';

const stopped = nodeOf(stoppedSchema);

const interfaceName: JsonNode = { enum: ['shipper', 'carrier'] };
const orNull = (schema: JsonNode): JsonNode => ({ ...schema, type: [schema['type'], 'null'] });
const account = schemaRef('AccountName');
const ofClient = { account, client_id: text };
const rule = { enum: ['exhausted', 'window', 'unknown'], description: 'Which rule switched it off.' };

const attempt = object(['attempt', 'at', 'kind', 'subscription_guid'], {
  ...attemptProperties,
  subscription_guid: { ...guid, description: 'It may be another than the first: see resends.' },
});

const event = {
  ...eventProperties,
  interface: {
    enum: ['shipper', 'carrier', null],
    description: 'Null where it could not be told of what was rejected.',
  },
  receivers: { type: 'array', items: account },
  verdicts: { type: 'array', items: schemaRef('OperatorVerdict') },
};

const candidate = (kind: string, of: JsonNode = { interface: interfaceName, action: text }) =>
  exactly({ kind: { const: kind }, guid, ...of, at: moment });

const subscription: JsonNode = {
  guid,
  ...ofClient,
  interface: interfaceName,
  action: text,
  url: { ...text, description: 'Without its query.' },
  created_at: moment,
};

/** A subscription to which a rule applied. */
const judged: JsonNode = {
  ...subscription,
  rule: { enum: ['exhausted', 'window'], description: 'Which rule switched it off, or would.' },
  delivery_guid: { ...orNull(guid), description: 'The delivery that did it; null: it is not known.' },
};

const room = {
  bytes: count,
  oldest_at: { ...moment, description: 'When the oldest of them was made.' },
  shut_since: orNull({ ...moment, description: 'Since when it has taken nothing; null: it answers, and takes some.' }),
  is_claimed: { type: 'boolean', description: 'Whether a process that lives has it in hand.' },
  next_try_at: orNull({
    ...moment,
    description: 'When a process is to look at it next; null while one has it in hand.',
  }),
};
const waitingEndpoints = {
  ...listOf('WaitingEndpoint'),
  description: 'Endpoints that deliveries wait for; what has waited longest comes first.',
};
/** Part of the queues' schema too. */
export const waitingDestinations = {
  ...listOf('WaitingDestination'),
  description: 'What waits in Postgres as RabbitMQ does not accept it; what has waited longest comes first.',
};

const deliveries = { type: 'array', items: schemaRef('OperatorDelivery') };

export const adminLogSchemas: Record<string, JsonNode> = {
  AccountName: exactly({
    guid,
    name: { type: ['string', 'null'], description: 'Null: it has none, or Waybell does not know the account.' },
  }),
  OperatorDelivery: object([...requiredOfDelivery, 'interface', 'account', 'client_id'], {
    ...deliveryProperties,
    ...ofClient,
    interface: interfaceName,
    attempts: { type: 'array', items: attempt },
  }),
  OperatorVerdict: verdict('OperatorDelivery', { suppressed: ofClient, rejected: { delivery_guid: guid } }),
  OperatorEvent: exactly(event),
  OperatorSubscription: object(
    [
      'guid',
      'account',
      'client_id',
      'interface',
      'action',
      'url',
      'created_at',
      'ended_at',
      'paused_until',
      'stopped',
      'standing',
      'switches',
    ],
    {
      ...subscription,
      ended_at: { ...orNull(moment), description: 'Null: it is a current one.' },
      paused_until: orNull({ ...moment, description: 'Null: its client has not paused it.' }),
      stopped: {
        ...orNull(stopped),
        description: 'Null: neither it nor its host is stopped by an operator.',
      },
      standing: { enum: ['active', 'switched_off', 'ended'] },
      failing_since: { ...orNull(moment), description: 'Since when its attempts fail; null: the last one did not.' },
      last_success_at: { ...orNull(moment), description: 'When its last successful attempt ended; null: none has.' },
      switches: {
        type: 'array',
        description: 'When a rule switched it off, and when its client subscribed again, the first one first.',
        items: object(['at', 'is_on'], { at: moment, is_on: { type: 'boolean' }, rule }),
      },
    },
  ),
  SwitchedOff: exactly({ ...judged, switched_off_at: moment }),
  HeldDeactivation: exactly({ ...judged, held_at: moment }),
  Candidate: {
    description: 'What was asked by may be this. Ask again by its guid, or with `as`, and for a key with `kind`.',
    oneOf: [
      exactly({
        kind: { const: 'key' },
        key: text,
        key_kind: { ...text, examples: ['order_id'] },
        events: { ...count, description: 'How many there are; 1,000: or more.' },
        at: { ...moment, description: 'When the last one of those counted was looked at.' },
      }),
      candidate('event'),
      candidate('delivery', { ...ofClient, interface: interfaceName, action: text }),
      candidate('subscription', {
        ...ofClient,
        interface: interfaceName,
        action: text,
        url: { ...text, description: 'Without its query.' },
      }),
      candidate('account', { interface: interfaceName, name: { type: ['string', 'null'] } }),
    ],
  },
  Told: {
    description: 'What is known. `several`: it means several things.',
    oneOf: [
      exactly({ kind: { const: 'several' }, objects: { type: 'array', items: schemaRef('Candidate') } }),
      exactly({
        kind: { const: 'events' },
        objects: { type: 'array', items: schemaRef('OperatorEvent') },
        next: { type: ['string', 'null'], description: 'The `cursor` of the next page; null: there is none.' },
      }),
      exactly({ kind: { const: 'delivery' }, delivery: schemaRef('OperatorDelivery') }),
      exactly({ kind: { const: 'subscription' }, subscription: schemaRef('OperatorSubscription'), deliveries }),
      exactly({
        kind: { const: 'account' },
        account: schemaRef('Account'),
        subscriptions: {
          type: 'array',
          description: 'Current ones; the account has a list of all.',
          items: schemaRef('OperatorSubscription'),
        },
        deliveries: { ...deliveries, description: 'The latest.' },
      }),
    ],
  },
  FailingOrigin: exactly({
    account,
    origin: { ...text, examples: ['https://receiver.example.com'] },
    failed: { ...count, description: 'Attempts that failed, of `attempts`.' },
    attempts: count,
    reason: { ...text, description: 'The most frequent one.' },
  }),
  Undelivered: exactly({ guid, account, action: text, at: moment, attempts: count }),
  WaitingEndpoint: exactly({
    account,
    url: orNull({ ...text, description: 'Without its query; null: no subscription has it any more.' }),
    subscription_guids: { type: 'array', items: guid, description: 'Those that something waits for.' },
    deliveries: count,
    is_complete: {
      type: 'boolean',
      description: 'False: there are more than 10,000. What is told is then of 10,000 of them.',
    },
    why: { type: 'array', items: waitingReason, description: waitingReason.description },
    ...room,
  }),
  WaitingDestination: exactly({
    service: { ...text, description: 'Whose it is.', examples: ['event-router'] },
    exchange: text,
    routing_key: text,
    publications: count,
    ...room,
  }),
  Waiting: exactly({ endpoints: waitingEndpoints, destinations: waitingDestinations }),
  Failing: exactly({
    since: moment,
    origins: { ...listOf('FailingOrigin'), description: 'Where attempts fail most.' },
    waiting: waitingEndpoints,
    undelivered: { ...listOf('Undelivered'), description: 'The oldest deliveries without an end.' },
    interrupted: {
      ...listOf('Interrupted'),
      description: 'Subscriptions that get nothing now, or missed what was not replayed, the latest first.',
    },
    notices: { ...listOf('OperationsNotice'), description: 'What the platform was told last, the latest first.' },
  }),
  Interrupted: exactly({
    guid,
    account,
    client_id: text,
    interface: interfaceName,
    action: text,
    url: { ...text, description: 'Without its query.' },
    state: {
      enum: ['off', 'stopped', 'paused', 'missed'],
      description: '`missed`: it is on again, and what it missed was not replayed.',
    },
    since: orNull(moment),
    until: orNull(moment),
    reason: orNull({ ...text, description: 'The rule that switched it off, or why an operator stopped it.' }),
    missed: orNull({ ...count, description: 'As the delivery log knows, up to 1,000 of a kind. Null: it waits.' }),
  }),
  OperationsNotice: exactly(noticeProperties),
  Change: exactly({
    at: moment,
    who: { ...text, examples: ['token 3d1c2f0a-6f5e-4a3f-9a55-0c8f2f0f7d11', 'command line'] },
    origin: { type: ['string', 'null'], description: 'An address, or a person at a machine.' },
    request_id: { ...orNull(guid), description: 'Null outside of a request.' },
    what: { ...text, examples: ['subscription.changed'] },
    account: { anyOf: [account, { type: 'null' }], description: 'Null where it is of none: a host.' },
    subject_guid: { ...orNull(guid), description: 'The account, token, signing secret or subscription; null: a host.' },
    details: { type: 'object', description: 'The new values of what changed.' },
    by: {
      anyOf: [exactly(ofClient), { type: 'null' }],
      description: 'Whose token it was done by; null: by none, or it is gone.',
    },
    action: orNull({ ...text, description: 'Of the subscription; null: of something else, or it is gone.' }),
    client_id: orNull({ ...text, description: 'Of the subscription or the token.' }),
    callback_origin_before: orNull({ ...text, description: 'Where callbacks led to before, if that changed.' }),
  }),
};
