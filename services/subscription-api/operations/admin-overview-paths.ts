import { problemAnswers, success } from './answers.ts';
import { count, exactly, listOf, moment, schemaRef, text, type JsonNode } from './json-node.ts';

const momentOrNull = (description: string): JsonNode => ({ ...moment, type: ['string', 'null'], description });
const orNull = (schema: JsonNode, description: string): JsonNode => ({
  anyOf: [schema, { type: 'null' }],
  description,
});

/** How the whole of it is now. */
export const adminOverviewPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/admin/overview': {
    get: {
      tags: ['Overview'],
      security: [{ accessToken: ['admin'] }],
      operationId: 'getOverview',
      summary: 'See how the whole of it is now',
      description:
        'What runs, what waits and for whom, what fails, is off or rejected. Tests by hand and `./waybell listen` count in none of it. A part that cannot be had now is null.',
      responses: {
        200: success('The figures.', schemaRef('Overview')),
        ...problemAnswers(['any-interface'], ['invalid-parameter']),
      },
    },
  },
};

const lastHour = exactly({
  since: moment,
  failed: { ...count, description: 'Attempts that failed, of `attempts`.' },
  attempts: count,
  rejected: { ...count, description: 'Events that were rejected.' },
  last_rejected_at: momentOrNull('Null: none was.'),
  oldest_unfinished: orNull(schemaRef('Undelivered'), 'The oldest delivery without an end; null: all have ended.'),
});

export const adminOverviewSchemas: Record<string, JsonNode> = {
  RunningService: exactly({
    service: { ...text, examples: ['deliverer'] },
    processes: {
      ...count,
      description:
        'How many are connected to Postgres, as each is as long as it runs. A setting `application_name` in DATABASE_URL hides them.',
    },
    started_at: momentOrNull('When the oldest of them started; null: none runs.'),
    last_started_at: momentOrNull('When the newest of them started.'),
    seen_at: momentOrNull(
      'When one of them last asked Postgres something: five seconds ago at most, unless all of them hang. Null also where the API’s user may not see it (`pg_read_all_stats`).',
    ),
    silent: {
      ...count,
      description: 'Those of them that have asked nothing for 15 seconds: they hang, or do not reach it.',
    },
    silent_since: momentOrNull('Since when the first of those has asked nothing; null: none is silent.'),
    unattended: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'Queues from which it takes and nobody does now, or without a leader; null: RabbitMQ does not say.',
    },
  }),
  Overview: exactly({
    services: listOf('RunningService'),
    waiting: {
      ...exactly({
        deliveries: { ...count, description: 'As the deliverers counted them about a second ago.' },
        endpoints: count,
        shut: { ...count, description: 'Endpoints that take nothing, of `endpoints`.' },
        oldest_at: momentOrNull('When the oldest delivery was made; null: none waits.'),
        longest: { ...listOf('WaitingEndpoint'), description: 'The five that have waited longest.' },
      }),
      description: 'Deliveries that wait for their endpoint.',
    },
    switched_off: exactly({
      now: { ...count, description: 'Subscriptions that are off, as a rule switched them off.' },
      since: moment,
      lately: { ...count, description: 'Those of them that went off since then.' },
      held: { ...count, description: 'Those that would be off, if that were not held.' },
    }),
    stopped: exactly({ subscriptions: count, hosts: count }),
    last_hour: orNull(lastHour, 'Null: it could not be counted in time.'),
    rejected: { type: ['integer', 'null'], minimum: 0, description: 'Rejected messages; null: RabbitMQ does not say.' },
    queues: orNull(
      exactly({
        messages: { ...count, description: 'In all queues but those of rejected messages and for upstream.' },
        unattended: { ...count, description: 'Queues that no service takes from, or without a leader.' },
      }),
      'Null: RabbitMQ does not say.',
    ),
  }),
};
