import type { Interface } from '@waybell/catalog/action';
import { LARGEST_REPLAY, LISTED_REPLAYS, REPLAY_RATE } from '@waybell/delivery-log/read/limits';
import { problemAnswers, success } from './answers.ts';
import { answered, objectOf } from './delivery-log-paths.ts';
import { actionPattern, byGuid, count, guid, jsonOf, links, noBody, schemaRef, type JsonNode } from './json-node.ts';

const tags = ['Resend and replay'];
const security = [{ accessToken: ['webhooks:write'] }];
const moment = { type: 'string', format: 'date-time' };
const guidInPath = { name: 'guid', in: 'path', required: true, schema: guid };

type AnswerNode = (schema: string) => JsonNode;

/** The same on each interface but for what answers are wrapped in. */
export function byHandPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const one: AnswerNode = (schema) => answered(interfaces, { shipper: objectOf(schema), carrier: schemaRef(schema) });
  return {
    '/v1/deliveries/{guid}/resend': resendPath(one),
    '/v1/replays': { ...replaysPath(interfaces, one), get: listReplays(interfaces) },
    '/v1/replays/{guid}': replayPath(one),
    '/v1/subscriptions/{guid}/test': testPath(one),
  };
}

function resendPath(one: AnswerNode): JsonNode {
  const problems = [
    'unknown-delivery',
    'under-way',
    'was-a-test',
    'body-gone',
    'nobody-subscribed',
    'switched-off',
  ] as const;
  return {
    parameters: [{ ...guidInPath, description: 'As `webhook-id`.' }],
    post: {
      tags,
      operationId: 'resendDelivery',
      summary: 'Send a delivery again',
      description:
        'To the subscription that the client has to its action now; one that is switched off is switched on first. `webhook-id` and body stay, `X-Webhook-Attempt` goes on, and there are as many retries as for a new one. It counts for no deactivation.',
      security,
      requestBody: noBody,
      responses: {
        202: success('It will be sent within a second or so.', one('Resend')),
        ...problemAnswers(['any-interface', 'body', 'parameters'], problems),
      },
    },
  };
}

function replaysPath(interfaces: readonly Interface[], one: AnswerNode): JsonNode {
  return {
    post: {
      tags,
      operationId: 'createReplay',
      summary: 'Send all that the client missed',
      description: `All of an action that was given up or dropped, whichever subscription of the client it was for, also of one that was ended since; with \`include_suppressed\` also what was never made, for want of a subscription. It is sent to the subscription that the client has to the action now. With \`*\`, which is any text, it is of several actions at one rate: those that the client has a subscription to that is on. With \`dry_run\` it is only counted, by reason. With \`missed\` it is what one subscription missed while it was off, from the moment it went off, suppressed or not; of several such requests one does it. Where there is nothing, \`explanation\` says what there is instead. One request takes the ${LARGEST_REPLAY.toLocaleString('en')} oldest at most, and counts no further; the next one takes the rest. With \`missed\`, what is noted as missed then begins where the replay ends.`,
      security,
      requestBody: {
        required: true,
        content: jsonOf({ ...replayRequest, anyOf: [{ required: ['since'] }, { required: ['missed'] }] }),
      },
      responses: {
        200: success('How many there are, where that was asked.', one('ReplayCount')),
        202: {
          ...success('It has begun.', one('Replay')),
          links: links(interfaces, 'object', byGuid('/guid', 'getReplay', 'cancelReplay')),
        },
        ...problemAnswers(
          ['any-interface', 'body'],
          ['not-subscribed', 'nobody-subscribed', 'switched-off', 'nothing-missed'],
        ),
      },
    },
  };
}

function listReplays(interfaces: readonly Interface[]): JsonNode {
  const all: JsonNode = {
    type: 'object',
    required: ['objects'],
    properties: { objects: { type: 'array', items: schemaRef('AskedReplay'), maxItems: LISTED_REPLAYS } },
  };
  return {
    tags,
    operationId: 'listReplays',
    summary: 'See what was asked to be replayed',
    description: `The latest ${LISTED_REPLAYS} of the client, newest first. How far one has come, \`GET /v1/replays/{guid}\` tells.`,
    security: [{ accessToken: ['webhooks:read'] }],
    responses: {
      200: {
        ...success('The replays.', answered(interfaces, { shipper: all, carrier: all })),
        links: links(interfaces, 'list', byGuid('/objects/0/guid', 'getReplay', 'cancelReplay')),
      },
      ...problemAnswers(['any-interface']),
    },
  };
}

function replayPath(one: AnswerNode): JsonNode {
  return {
    parameters: [guidInPath],
    get: {
      tags,
      operationId: 'getReplay',
      summary: 'See how far a replay has come',
      security: [{ accessToken: ['webhooks:read'] }],
      responses: {
        200: success('The replay.', one('Replay')),
        ...problemAnswers(['any-interface', 'parameters'], ['unknown-replay']),
      },
    },
    delete: {
      tags,
      operationId: 'cancelReplay',
      summary: 'Cancel a replay',
      description:
        'What was not sent yet is not sent, but for what is just being handed over: 50 at most for each process of the delivery log. What was sent is not called back.',
      security,
      requestBody: noBody,
      responses: {
        200: success('The replay, cancelled.', one('Replay')),
        ...problemAnswers(['any-interface', 'body', 'parameters'], ['unknown-replay']),
      },
    },
  };
}

function testPath(one: AnswerNode): JsonNode {
  return {
    parameters: [{ ...guidInPath, description: 'Of a current subscription: `GET /v1/subscriptions` has it.' }],
    post: {
      tags,
      operationId: 'testSubscription',
      summary: 'Try a subscription out',
      description:
        'Sends the example of its action, signed as any other, with the header `X-Webhook-Test: true`, once, and answers with what the receiver said: also while it is switched off or paused, not while an operator has stopped it. One at a time for each subscription. It counts for no deactivation.',
      security,
      requestBody: noBody,
      responses: {
        200: success('What the receiver said.', one('DeliveryDetail')),
        ...problemAnswers(['any-interface', 'body', 'parameters'], ['not-subscribed', 'under-way', 'stopped']),
      },
    },
  };
}

/** The body of a request for a replay. */
export const replayRequest: JsonNode = {
  type: 'object',
  additionalProperties: false,
  properties: {
    action: {
      ...actionPattern,
      description: 'the name of an action, in which * is any text; this, or a subscription, is to be there',
    },
    subscription_guid: {
      ...guid,
      description: 'Of the action of this subscription of the client, current or not; whichever of them missed it.',
    },
    missed: {
      enum: [true],
      description:
        'What the subscription named by `subscription_guid` noted as `missed`, in place of `since`, `until`, `action` and `include_suppressed`.',
    },
    since: { ...moment, description: 'What was given up, or failed, from then on.' },
    until: { ...moment, description: 'And before; now, where it is left out.' },
    per_second: { type: 'integer', minimum: 1, maximum: REPLAY_RATE.most, default: REPLAY_RATE.default },
    include_suppressed: {
      type: 'boolean',
      default: false,
      description:
        'Also what was never made because there was no subscription that was on: it was switched off, had ended, or was not there yet. It is made now from the event, which is kept as long as bodies are.',
    },
    dry_run: { type: 'boolean', default: false, description: 'Count only.' },
  },
};

/** A list of reasons, and how many have each. */
export const reasonCounts: JsonNode = {
  type: 'array',
  description: 'Why they did not arrive, and of each how many: a reason of failure, or why there was no subscription.',
  items: {
    type: 'object',
    required: ['reason', 'count'],
    properties: { reason: { type: 'string', examples: ['response_timeout', 'switched_off'] }, count },
  },
};

const askedReplay = {
  guid,
  action: {
    type: 'string',
    description: 'Of which action; a pattern where that was asked for.',
    examples: ['order.*'],
  },
  since: moment,
  until: moment,
  include_suppressed: { type: 'boolean' },
  per_second: { type: 'integer', minimum: 1 },
  total: { ...count, description: 'Deliveries that are sent.' },
  requested_at: moment,
  requested_by: { enum: ['client', 'operator'] },
  cancelled_at: { type: ['string', 'null'], format: 'date-time' },
};

const explanation = {
  type: 'string',
  description: 'Where there is nothing to send: what there is instead, for people.',
};

const replay = {
  ...askedReplay,
  published: { ...count, description: 'Of these, handed out to be attempted.' },
  delivered: { ...count, description: 'Of these, delivered by now.' },
};

/** Schemas of the answers to sending by hand. */
export const byHandSchemas: Record<string, JsonNode> = {
  Resend: {
    type: 'object',
    required: ['delivery_guid', 'subscription_guid', 'attempt'],
    properties: {
      delivery_guid: guid,
      subscription_guid: { ...guid, description: 'To which it goes.' },
      attempt: { type: 'integer', minimum: 1, description: 'The attempt it goes on with.' },
      held: {
        enum: ['paused', 'stopped'],
        description: 'Only where the subscription is paused, or stopped by an operator: it waits until that is over.',
      },
    },
  },
  ReplayCount: {
    type: 'object',
    required: ['total', 'reasons'],
    properties: {
      total: count,
      reasons: reasonCounts,
      explanation,
    },
  },
  AskedReplay: { type: 'object', required: Object.keys(askedReplay), properties: askedReplay },
  Replay: { type: 'object', required: Object.keys(replay), properties: { ...replay, explanation } },
};
