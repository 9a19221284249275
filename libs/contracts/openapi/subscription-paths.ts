import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { callbackUrl } from './components.ts';
import { answered, objectOf } from './delivery-log-paths.ts';
import {
  actionPattern,
  guid,
  jsonOf,
  listOf,
  moment,
  object,
  schemaRef,
  text,
  byGuid,
  links,
  noBody,
  type JsonNode,
  type LinkTarget,
} from './json-node.ts';

const tags = ['Subscriptions'];
const security = [{ accessToken: ['webhooks:write'] }];
const guidInPath = { name: 'guid', in: 'path', required: true, schema: guid };
/** No JSON that is taken here has a NUL. */
const fieldName = { ...text, pattern: String.raw`^[^\u0000]*$` };
const auditFieldSet = { type: ['array', 'null'], maxItems: 100, items: fieldName };

const body = (properties: JsonNode, required: readonly string[] = []): JsonNode => ({
  ...object(required, properties),
  additionalProperties: false,
});

/** The body of a request to change a subscription in place. */
export const subscriptionChange = body({
  callback_url: callbackUrl,
  audit_field_set: {
    ...auditFieldSet,
    description:
      'As with subscribing: only for the revision actions. Null is the plain form; left out, it stays as it is.',
  },
  is_active: {
    enum: [true],
    description: 'Switches it on again where it was switched off. To have its deliveries wait, pause it.',
  },
});

/** The body of a request to have subscriptions to many actions. */
export const desiredSubscriptions = body(
  {
    callback_url: callbackUrl,
    actions: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: actionPattern,
      description:
        'Names of actions, in which `*` is any text: `order.*`. It stands for what the account can have: neither deprecated actions nor those of a feature that is not enabled.',
    },
    audit_field_set: {
      ...auditFieldSet,
      description:
        'Each revision action among them takes the fields that it has; if it has none of them, its form is the plain one. The other actions ignore it. Null, or left out: the plain form.',
    },
    is_active: { enum: [true], description: 'Switches those on again that were switched off. Else they stay off.' },
  },
  ['callback_url', 'actions'],
);

/** The body of a request to pause a subscription. */
export const pauseRequest = body({
  until: {
    ...moment,
    description: 'As long as a delivery may wait (`DELIVERY_MAX_AGE`) at most; that long where it is left out.',
  },
});

/** A client's subscriptions: the same on each interface, except for the wrapping of answers. */
export function subscriptionPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  return { '/v1/subscriptions': subscriptionsPath(interfaces), ...oneSubscriptionPaths(interfaces) };
}

function subscriptionsPath(interfaces: readonly Interface[]): JsonNode {
  const both = (schema: JsonNode) => answered(interfaces, { shipper: schema, carrier: schema });
  return {
    get: {
      tags,
      operationId: 'listSubscriptions',
      summary: 'See all subscriptions, and why one is switched off, paused, stopped or suspended',
      description:
        "The client's current ones, by action, with the guids that tests and replays ask for. Those that were switched off are among them; those that were ended are not.",
      security: [{ accessToken: ['webhooks:read'] }],
      responses: {
        200: {
          ...success('The subscriptions.', both(listOf('Subscription'))),
          links: links(interfaces, 'list', [...byGuid('/objects/0/guid', ...LED_TO), replayed]),
        },
        ...problemAnswers(['any-interface']),
      },
    },
    put: {
      tags,
      operationId: 'putSubscriptions',
      summary: 'Have subscriptions to many actions',
      description:
        'Each action is subscribed, or its subscription changed in place; nothing else is ended. The same request again changes nothing, so that a receiver can make it at each start. The answer has an entry for each action, by name.',
      security,
      requestBody: { required: true, content: jsonOf(desiredSubscriptions) },
      responses: {
        200: {
          ...success('What became of each.', both(listOf('PutSubscription'))),
          links: links(interfaces, 'list', byGuid('/objects/0/subscription/guid', ...LED_TO)),
        },
        ...problemAnswers(['any-interface', 'body']),
      },
    },
  };
}

function oneSubscriptionPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const one = success(
    'The subscription as it is now.',
    answered(interfaces, { shipper: objectOf('Subscription'), carrier: schemaRef('Subscription') }),
  );
  const oneAt = (operation: JsonNode) => ({ parameters: [guidInPath], ...operation });
  return {
    '/v1/subscriptions/{guid}': oneAt({
      get: {
        tags,
        operationId: 'getSubscription',
        summary: 'See a subscription',
        description: 'One that the client has now, with its verification token.',
        security: [{ accessToken: ['webhooks:read'] }],
        responses: { 200: one, ...problemAnswers(['any-interface', 'parameters'], ['not-subscribed']) },
      },
      patch: {
        tags,
        operationId: 'changeSubscription',
        summary: 'Change a subscription in place, or switch it on again',
        description:
          'Its guid, verification token and history stay. Earlier failures no longer count. What it missed while it was off is noted as `missed`, with a count: `POST /v1/replays` with `missed` sends it. Another URL alone leaves one off that was switched off. A request that changes nothing does nothing.',
        security,
        requestBody: { required: true, content: jsonOf(subscriptionChange) },
        responses: { 200: one, ...problemAnswers(['any-interface', 'body', 'parameters'], ['not-subscribed']) },
      },
    }),
    '/v1/subscriptions/{guid}/pause': oneAt({
      post: {
        tags,
        operationId: 'pauseSubscription',
        summary: 'Have its deliveries wait',
        description:
          'Until then, or until it is resumed, what is due waits, and counts for nothing; what grows too old expires. It stays active. Paused again, the new end counts.',
        security,
        requestBody: { required: false, content: jsonOf(pauseRequest) },
        responses: {
          200: one,
          ...problemAnswers(['any-interface', 'body', 'parameters'], ['not-subscribed', 'switched-off']),
        },
      },
    }),
    '/v1/subscriptions/{guid}/resume': oneAt({
      post: {
        tags,
        operationId: 'resumeSubscription',
        summary: 'End a pause',
        description: 'What waits is sent now. Fine where it is not paused, too.',
        security,
        requestBody: noBody,
        responses: {
          200: one,
          ...problemAnswers(['any-interface', 'body', 'parameters'], ['not-subscribed', 'switched-off']),
        },
      },
    }),
  };
}

const LED_TO = ['getSubscription', 'changeSubscription', 'pauseSubscription', 'resumeSubscription', 'testSubscription'];

const replayed: LinkTarget = {
  operationId: 'createReplay',
  at: '/objects/0/guid',
  member: 'subscription_guid',
  others: { since: '2026-11-20T09:30:00Z' },
};

/** Why an operator has the deliveries of a subscription wait. */
export const stopped: JsonNode = object(['at', 'reason'], { at: moment, reason: text });

export const subscriptionSchemas: Record<string, JsonNode> = {
  Subscription: object(['guid', 'action', 'callback_url', 'is_active', 'created_at', 'changed_at'], {
    guid,
    action: text,
    callback_url: { ...text, examples: callbackUrl.examples },
    audit_field_set: {
      type: 'array',
      items: text,
      description: 'Absent where its notifications have the plain form.',
    },
    verification_token: {
      ...text,
      description:
        'Sent with every notification as `X-Service-Verification-Token`. Only to tokens with `webhooks:write`, and not in lists.',
    },
    is_active: { type: 'boolean', description: 'False once it was switched off.' },
    created_at: moment,
    changed_at: moment,
    deactivation: {
      ...object(['at', 'rule'], {
        at: moment,
        rule: {
          enum: ['exhausted', 'window'],
          description:
            '`exhausted`: a delivery was given up. `window`: every delivery of the last 24 hours, or of what the operator has set, failed.',
        },
      }),
      description: 'Only where it was switched off: when, and by which rule.',
    },
    suspension: {
      ...object(['reason', 'feature'], {
        reason: { const: 'feature_off' },
        feature: { enum: ['insurance', 'servicepay'] },
      }),
      description:
        'Only while the account lacks a feature that the action needs: nothing is sent, and the subscription stays.',
    },
    paused_until: { ...moment, description: 'Only while it is paused: what is due waits until then.' },
    stopped: {
      ...stopped,
      description:
        'Only while an operator has its deliveries wait, or those to its host. Only an operator starts it again.',
    },
    missed: {
      ...object(['since', 'until'], {
        since: moment,
        until: moment,
        count: {
          type: 'integer',
          minimum: 0,
          description: 'As many as one replay takes, at most. Left out in the answer of `PUT /v1/subscriptions`.',
        },
      }),
      description:
        'Only where it was off and is on again, and lacks something of that time: until a replay of what was `missed` is asked for, and again where the delivery log gets something of that time later. For a minute after that the count may be 0.',
    },
  }),
  PutSubscription: object(['action', 'result'], {
    action: text,
    result: {
      enum: ['created', 'changed', 'unchanged', 'refused'],
      description: '`unchanged`: it was so before. `refused`: `problem` says why.',
    },
    subscription: schemaRef('Subscription'),
    problem: schemaRef('Problem'),
  }),
};
