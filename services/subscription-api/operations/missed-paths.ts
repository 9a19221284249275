import type { Interface } from '@waybell/catalog/action';
import { LARGEST_REPLAY } from '@waybell/delivery-log/read/limits';
import { problemAnswers, success } from './answers.ts';
import { reasonCounts } from './by-hand.ts';
import { answered } from './delivery-log-paths.ts';
import { countOf, exactly, guid, moment, schemaRef, text, type JsonNode } from './json-node.ts';

/** The parameters for the period that is searched for missed events. */
export const missedParameters: readonly JsonNode[] = [
  {
    name: 'since',
    in: 'query',
    description: 'What was given up or dropped, or failed, from then on; without it, from 24 hours before `until`.',
    schema: moment,
  },
  { name: 'until', in: 'query', description: 'And before; without it, now.', schema: moment },
];

/** Missed events of a client: the same on each interface, except for the wrapping of answers. */
export function missedPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const missed = schemaRef('Missed');
  return {
    '/v1/missed': {
      get: {
        tags: ['Sending by hand'],
        operationId: 'getMissed',
        summary: 'See what the client missed, action by action',
        description: `Of the actions that the client was subscribed to at some time of the range, or is now: what was given up or dropped, and the events that nothing was sent of, as no subscription was on. What has arrived since, or is on its way, is not missed. \`POST /v1/replays\` with \`"action": "*"\`, the same times and \`include_suppressed\` sends what \`exhausted\`, \`dropped\` and \`suppressed\` count where \`is_active\` is true. The ${LARGEST_REPLAY.toLocaleString('en')} oldest are counted, as many as one replay takes.`,
        security: [{ accessToken: ['webhooks:read'] }],
        parameters: missedParameters,
        responses: {
          200: success('What was missed.', answered(interfaces, { shipper: missed, carrier: missed })),
          ...problemAnswers(['any-interface'], ['invalid-parameter']),
        },
      },
    },
  };
}

export const missedSchemas: Record<string, JsonNode> = {
  Missed: exactly({
    since: moment,
    until: moment,
    counted_until: {
      ...moment,
      type: ['string', 'null'],
      description: 'Null: all of it is counted. Else there is more from then on: ask again with that as `since`.',
    },
    objects: {
      type: 'array',
      description: 'By action; none that the client missed nothing of.',
      items: schemaRef('MissedOfAction'),
    },
  }),
  MissedOfAction: exactly({
    action: text,
    subscription_guid: {
      ...guid,
      type: ['string', 'null'],
      description: 'The one that the client has to it now, which a replay goes to; null: none.',
    },
    is_active: {
      type: 'boolean',
      description: 'False: it is switched off, or there is none, so that nothing can be replayed to it.',
    },
    exhausted: countOf('Deliveries that were given up, as every attempt failed.'),
    dropped: countOf('Deliveries that ended without an attempt to its end.'),
    suppressed: countOf('Events that no delivery was made of, as no subscription was on.'),
    gone: countOf('Others, of all three kinds, whose body is no longer kept: they cannot be sent.'),
    reasons: reasonCounts,
  }),
};
