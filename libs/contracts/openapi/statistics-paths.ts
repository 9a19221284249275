import type { Interface } from '@waybell/catalog/action';
import { problemAnswers, success } from './answers.ts';
import { answered } from './delivery-log-paths.ts';
import { moment, object, schemaRef, text, type JsonNode } from './json-node.ts';

const exactly = (properties: JsonNode): JsonNode => object(Object.keys(properties), properties);
const count = (description: string): JsonNode => ({ type: 'integer', minimum: 0, description });

/** Counts of a client's deliveries: the same on each interface, except for the wrapping of answers. */
export function statisticsPaths(interfaces: readonly Interface[]): Readonly<Record<string, JsonNode>> {
  const statistics = schemaRef('Statistics');
  return {
    '/v1/statistics': {
      get: {
        tags: ['Delivery log'],
        operationId: 'getStatistics',
        summary: 'See how many deliveries arrived, hour by hour',
        description:
          'Of the client, in the last 24 whole hours and the one that runs: every action that is subscribed now, or that there is something of. An attempt counts in the hour in which it ended, so that what was sent again counts again; tests by hand never count. What is known late of an hour that is over may be told hours later.',
        security: [{ accessToken: ['webhooks:read'] }],
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
        delivered: count('Attempts that arrived.'),
        retried: count('Attempts that failed, after which another follows.'),
        given_up: count('Deliveries that were given up (`exhausted`) or dropped.'),
        suppressed: count('Events for the account that were not sent to the client.'),
      }),
    },
  }),
};
