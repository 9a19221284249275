import type { Interface } from '@waybell/catalog/action';
import { noticeProperties } from '@waybell/contracts/operations-channel';
import { problemAnswers, success } from './answers.ts';
import { eventProperties, whyProperties, suppressedProperties } from './delivery-log-schemas.ts';
import { guid, moment, object, schemaRef, text, type JsonNode } from './json-node.ts';

const KINDS = ['delivered', 'failed', 'exhausted', 'dropped', 'suppressed', 'notice'] as const;

/** The kind of a record in the feed: an attempt ended, an event was not sent, or a notice of a subscription. */
export type LiveKind = (typeof KINDS)[number];

export const liveKind: JsonNode = { type: 'string', enum: KINDS };

const ACTION_NAMES: Record<Interface, string> = { shipper: 'ShipperActionName', carrier: 'CarrierActionName' };

const parameters = (interfaces: readonly Interface[]): JsonNode[] => {
  const actions = interfaces.map((name) => schemaRef(ACTION_NAMES[name]));
  const [first = {}] = actions;
  return [
    {
      name: 'action',
      in: 'query',
      description: 'Only of this action of the interface.',
      schema: actions.length === 1 ? first : { anyOf: actions },
    },
    {
      name: 'kind',
      in: 'query',
      description: 'Only attempts that ended so, `suppressed` events, or each `notice`.',
      schema: liveKind,
    },
    {
      name: 'Last-Event-ID',
      in: 'header',
      description:
        'The `id` that came last: the feed goes on after it, with what happened meanwhile. Without it, the feed begins now.',
      schema: { type: 'string', maxLength: 100 },
    },
  ];
};

const stream: JsonNode = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Of `event: attempt` the `data` is a LiveAttempt, of `event: suppressed` a LiveSuppressed, of `event: notice` a LiveNotice, of `event: skipped` a LiveSkipped, as JSON on one line. Each has an `id`; so has each comment, which comes every 15 seconds at least.',
    },
    examples: {
      attempt: {
        value:
          'event: attempt\nid: mi8x3k2o.q83v\ndata: {"delivery_guid":"a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11", …}\n\n: alive\nid: mi8x3k2o.q83v\n\n',
      },
    },
  },
};

/** The live feed: the same on each interface. */
export function livePaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  return {
    '/v1/live': {
      get: {
        tags: ['Delivery log'],
        operationId: 'streamLive',
        summary: 'See what happens now',
        description:
          'Server-sent events, until the client closes the connection: each attempt, each event for the account that the client was not sent, and each notice of what became of a subscription, a second or two after it happened, in the order in which the log has them. What comes to the log more than 30 seconds after it happened may be missing, and so may what happens faster than 500 records a second, of which `skipped` tells: `/v1/deliveries` has it all. A stream ends when its token does not hold any more, when its reader falls too far behind, and when the process stops: connect again, with `Last-Event-ID`.',
        security: [{ accessToken: ['webhooks:read'] }],
        parameters: parameters(interfaces),
        responses: {
          200: { ...success('The stream.', null), content: stream },
          ...problemAnswers(['any-interface'], ['invalid-parameter']),
        },
      },
    },
  };
}

const { event_guid, action, at, keys } = eventProperties;
const { account_name: _, ...noticeOfClient } = noticeProperties;

/** Schemas of the feed's events. */
export const liveSchemas: Record<string, JsonNode> = {
  LiveAttempt: object(['delivery_guid', 'event_guid', 'action', 'keys', 'subscription_guid', 'attempt'], {
    delivery_guid: { ...guid, description: 'As `webhook-id`.' },
    event_guid: guid,
    action: text,
    keys,
    subscription_guid: guid,
    callback_url: { type: 'string', description: 'Of the subscription as it is now, without its query.' },
    attempt: schemaRef('Attempt'),
  }),
  LiveSuppressed: object(['event_guid', 'action', 'at', 'keys', 'kind', ...Object.keys(whyProperties)], {
    event_guid,
    action,
    at,
    keys,
    ...suppressedProperties,
  }),
  LiveNotice: object(Object.keys(noticeOfClient), noticeOfClient),
  LiveSkipped: object(['since', 'until'], {
    since: { ...moment, description: 'More happened from this time on than the feed carries: some of it is left out.' },
    until: moment,
  }),
};
