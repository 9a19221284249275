import { noticeKinds, type NoticeKind, type OperationsNotice } from '@waybell/line/operations-notice';
import { noticesExchange, operationsExchange, operationsQueue } from '@waybell/line/topology';

const known = (description: string) => ({ type: ['string', 'null'], description });
const number = (description: string) => ({ type: ['integer', 'null'], minimum: 0, description });
const guid = { type: 'string', format: 'uuid' };
const moment = { type: 'string', format: 'date-time' };
const momentOrNull = (description: string) => ({ ...known(description), format: 'date-time' });

/** Members of a notice: each is there, and null where it is not known or means nothing. */
export const noticeProperties = {
  guid: { ...guid, description: 'Of the notice: one may come twice.' },
  kind: { type: 'string', enum: noticeKinds },
  at: moment,
  interface: { type: 'string', enum: ['shipper', 'carrier'] },
  account_guid: guid,
  account_name: known('What operators call the account.'),
  client_id: { type: 'string' },
  action: known('Null where deliveries of several subscriptions wait for one endpoint, and of a certificate.'),
  subscription_guid: { ...known('Null where `action` is.'), format: 'uuid' },
  callback_url: known('Without its query.'),
  reason: known(
    'Of `switched_off` and `held` the rule, `exhausted` or `window`; of `switched_on` `switched_on`, or `held_back` where so many went off at once that the fault may be ours; of `ended` `unsubscribed`, `gone`, or `closed` with its account; of `delivery.exhausted` why the last one failed; of `endpoint.waiting` why most wait.',
  ),
  since: momentOrNull(
    'Of `switched_off` and `held` when it began to fail; of `switched_on` when it had gone off; of `delivery.exhausted` when the first of those told failed; of `endpoint.waiting` since when the first waits.',
  ),
  delivery_guid: { ...known('The delivery that caused it, or the last one that failed.'), format: 'uuid' },
  status: number('What the receiver answered last, if it did.'),
  count: number('How many deliveries failed since the notice before; how many wait, up to 1,000.'),
  missed: {
    type: ['object', 'null'],
    description:
      'What the subscription missed while it was off, for a replay of `missed`. `count` is what the delivery log knows at that time, up to 1,000 of each kind; 0 as it goes off.',
    properties: {
      since: moment,
      until: momentOrNull('Null while it is off.'),
      count: number('Null where it was not counted.'),
    },
    required: ['since', 'until', 'count'],
  },
  host: known('Of `certificate.ending`: the host, and port, at which callbacks authenticate by the certificate.'),
  ends_at: momentOrNull('Of `certificate.ending`: when it ends, or ended.'),
} satisfies Record<keyof OperationsNotice, object>;

const common = {
  interface: 'carrier',
  account_guid: '6d6f9c0e-33a4-4c8c-8a30-6d2c5f7f7a01',
  account_name: 'Example Freight',
  client_id: 'default',
  action: 'order.created',
  subscription_guid: 'b52f9d2c-7c0b-4b52-8f2c-1c8b7f0f6a02',
  callback_url: 'https://receiver.example/hook',
  delivery_guid: null,
  status: null,
  count: null,
  missed: null,
  host: null,
  ends_at: null,
} as const;
const DELIVERY = 'a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11';
const OFF_AT = '2026-11-20T09:30:07.412Z';
const MISSED_SINCE = '2026-11-20T09:28:59.870Z';

const examples: Record<NoticeKind, OperationsNotice> = {
  'subscription.switched_off': {
    ...common,
    guid: '1f0c9a52-3f4e-4a0e-9d3b-0c5a6b7c8d01',
    kind: 'subscription.switched_off',
    at: OFF_AT,
    reason: 'exhausted',
    since: '2026-11-20T09:29:59.870Z',
    delivery_guid: DELIVERY,
    missed: { since: MISSED_SINCE, until: null, count: 0 },
  },
  'subscription.switched_on': {
    ...common,
    guid: '1f0c9a52-3f4e-4a0e-9d3b-0c5a6b7c8d02',
    kind: 'subscription.switched_on',
    at: '2026-11-20T10:02:11.038Z',
    reason: 'switched_on',
    since: OFF_AT,
    delivery_guid: DELIVERY,
    missed: { since: MISSED_SINCE, until: '2026-11-20T10:02:11.037Z', count: 42 },
  },
  'subscription.ended': {
    ...common,
    guid: '1f0c9a52-3f4e-4a0e-9d3b-0c5a6b7c8d03',
    kind: 'subscription.ended',
    at: '2026-11-21T08:00:00.000Z',
    reason: 'unsubscribed',
    since: null,
  },
  'subscription.held': {
    ...common,
    guid: '1f0c9a52-3f4e-4a0e-9d3b-0c5a6b7c8d04',
    kind: 'subscription.held',
    at: OFF_AT,
    reason: 'exhausted',
    since: '2026-11-20T09:29:59.870Z',
    delivery_guid: DELIVERY,
  },
  'delivery.exhausted': {
    ...common,
    guid: '1f0c9a52-3f4e-4a0e-9d3b-0c5a6b7c8d05',
    kind: 'delivery.exhausted',
    at: OFF_AT,
    reason: 'http_5xx',
    since: '2026-11-20T09:30:06.903Z',
    delivery_guid: DELIVERY,
    status: 503,
    count: 1,
  },
  'endpoint.waiting': {
    ...common,
    guid: '1f0c9a52-3f4e-4a0e-9d3b-0c5a6b7c8d06',
    kind: 'endpoint.waiting',
    at: '2026-11-20T09:35:10.120Z',
    action: null,
    subscription_guid: null,
    reason: 'hung',
    since: '2026-11-20T09:30:02.771Z',
    count: 730,
  },
  'certificate.ending': {
    ...common,
    guid: '1f0c9a52-3f4e-4a0e-9d3b-0c5a6b7c8d07',
    kind: 'certificate.ending',
    at: '2026-11-20T09:30:10.120Z',
    action: null,
    subscription_guid: null,
    callback_url: null,
    reason: null,
    since: null,
    host: 'receiver.example',
    ends_at: '2026-12-20T09:30:06.000Z',
  },
};

export const operationsChannel = {
  address: operationsQueue,
  title: 'Notices of subscriptions',
  description: `Bound to the fanout exchange \`${operationsExchange}\`, which takes \`operations.<kind>\` from the direct exchange \`${noticesExchange}\`. For the platform, to tell its clients; the oldest go after seven days, or beyond 64 MiB. Each is published within a second, at least once.`,
  messages: {
    notice: {
      name: 'notice',
      title: 'What became of a subscription, that deliveries fail or wait, or that a certificate ends',
      contentType: 'application/json',
      payload: { type: 'object', properties: noticeProperties, required: Object.keys(noticeProperties) },
      examples: noticeKinds.map((kind) => ({ name: kind, payload: examples[kind] })),
    },
  },
  bindings: {
    amqp: {
      is: 'queue',
      queue: { name: operationsQueue, durable: true, exclusive: false, autoDelete: false },
      bindingVersion: '0.3.0',
    },
  },
};
