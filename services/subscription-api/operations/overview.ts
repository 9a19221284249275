/** The overview for operators: services, waiting deliveries, subscriptions that are off, the last hour, and queues. */
import { matchesPattern } from '@waybell/catalog/names';
import type { NamedState } from '@waybell/line/broker/broker-connection';
import { USES } from '@waybell/line/line-topology';
import { mayHoldMore } from '@waybell/line/operating/describe-consumers';
import { isForUpstream, rejectedQueue } from '@waybell/line/topology';
import type { Queryable } from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Database } from '../database.ts';
import { oldestUndelivered } from '../failing.ts';
import { countHeldBack } from '../interrupted.ts';
import { countLately, countOff, runningServices, type RunningService } from '../overview.ts';
import { waitingEndpoints, waitingInAll } from '../waiting-rooms.ts';
import { bare, noQuery, operationsOf, Replied } from './operation.ts';
import { either, namesOf, Undelivered, WaitingEndpoint } from './operator-schemas.ts';
import { component, count, from, moment, object, objects, orNull, text } from './schema.ts';
import type { OperatorServices } from './services.ts';

const Running = component(
  'RunningService',
  object({
    service: text({ examples: ['deliverer'] }),
    processes: count(
      'How many are connected to Postgres, as each is as long as it runs. A setting `application_name` in DATABASE_URL hides them.',
    ),
    started_at: orNull(moment(), 'When the oldest of them started; null: none runs.'),
    last_started_at: orNull(moment(), 'When the newest of them started.'),
    seen_at: orNull(
      moment(),
      'When one of them last asked Postgres something: five seconds ago at most, unless all of them hang. Null also where the API’s user may not see it (`pg_read_all_stats`).',
    ),
    silent: count('Those of them that have asked nothing for 15 seconds: they hang, or do not reach it.'),
    silent_since: orNull(moment(), 'Since when the first of those has asked nothing; null: none is silent.'),
    unattended: orNull(
      count(),
      'Queues from which it takes and nobody does now, or without a leader; null: RabbitMQ does not say.',
    ),
  }),
);

const Overview = component(
  'Overview',
  object({
    services: objects(Running),
    waiting: object(
      {
        deliveries: from('rows', count('As the deliverers counted them about a second ago.')),
        endpoints: from('rooms', count()),
        shut: count('Endpoints that take nothing, of `endpoints`.'),
        oldest_at: orNull(moment(), 'When the oldest delivery was made; null: none waits.'),
        longest: objects(WaitingEndpoint, 'The five that have waited longest.'),
      },
      'Deliveries that wait for their endpoint.',
    ),
    switched_off: from(
      'off',
      object({
        now: from('off', count('Subscriptions that are off, as a rule switched them off.')),
        since: moment(),
        lately: from('offLately', count('Those of them that went off since then.')),
        held: count('Those that would be off, if that were not held.'),
      }),
    ),
    stopped: from(
      'off',
      object({ subscriptions: from('stoppedSubscriptions', count()), hosts: from('stoppedHosts', count()) }),
    ),
    last_hour: either(
      object({
        since: moment(),
        failed: count('Attempts that failed, of `attempts`.'),
        attempts: count(),
        rejected: count('Events that were rejected.'),
        last_rejected_at: orNull(moment(), 'Null: none was.'),
        oldest_unfinished: either(Undelivered, 'The oldest delivery without an end; null: all have ended.'),
      }),
      'Null: it could not be counted in time.',
    ),
    rejected: orNull(count(), 'Rejected messages; null: RabbitMQ does not say.'),
    queues: either(
      object({
        messages: count('In all queues but those of rejected messages and for upstream.'),
        unattended: count('Queues that no service takes from, or without a leader.'),
      }),
      'Null: RabbitMQ does not say.',
    ),
  }),
);

/** `lastHour`: as `lastHourOf` makes it. */
export type OverviewServices = Pick<OperatorServices, 'database' | 'line' | 'queues'> & {
  lastHour: ReturnType<typeof lastHourOf>;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST_ENDPOINTS = 5;

/** Its parts are null while they cannot be read; without Postgres there is no answer. */
export const overviewOperation = operationsOf<OverviewServices>()({
  method: 'get',
  path: '/v1/admin/overview',
  id: 'getOverview',
  tag: 'Overview',
  summary: 'See how the whole of it is now',
  description:
    'What runs, what waits and for whom, what fails, is off or rejected. Tests by hand and `./waybell listen` count in none of it. A part that cannot be had now is null.',
  scope: 'admin',
  query: noQuery,
  answers: { 200: bare('The figures.', Overview) },
  async handle({ services: { database, line, queues, lastHour } }) {
    const [tables, hour, states] = await Promise.all([
      database.askLog((postgres) => readTables(postgres, Date.now() - DAY_MS)),
      unlessAway(lastHour()),
      line === undefined ? null : unlessAway(line.statesOf(queues)),
    ]);
    const services = tables.services.map((each) => ({ ...each, unattended: states && countUnattended(each, states) }));
    const told = { ...tables, services: { objects: services }, last_hour: hour, ...(states && depthOf(states)) };
    return new Replied(200, told, new Map([...tables.names, ...(hour?.names ?? [])]));
  },
});

/** Null while the dependency is away, or too busy to answer in time. */
async function unlessAway<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof Unavailable) return null;
    throw error;
  });
}

async function readTables(postgres: Queryable, since: number) {
  const services = await runningServices(postgres);
  const { endpoints } = await waitingInAll(postgres);
  const longest = await waitingEndpoints(postgres, { limit: MOST_ENDPOINTS });
  const off = { ...(await countOff(postgres, since)), since, held: await countHeldBack(postgres) };
  const waiting = { ...endpoints, longest: { objects: longest } };
  return { services, waiting, off, names: await namesOf(postgres, longest) };
}

/** Reads the last hour: every attempt of it, so that its answer is shared. */
export const lastHourOf = (database: Pick<Database, 'askLog'>) =>
  sharedAnswer(() => database.askLog((postgres) => readSince(postgres, Date.now() - HOUR_MS)));

async function readSince(postgres: Queryable, since: number) {
  const counts = await countLately(postgres, since);
  const unfinished = await oldestUndelivered(postgres, { sinceMs: since, limit: 1 });
  return { since, ...counts, oldest_unfinished: unfinished[0], names: await namesOf(postgres, unfinished) };
}

/** Queues that upstream reads are no backlog. */
function depthOf(states: readonly NamedState[]) {
  const inside = states.filter(({ name }) => name !== rejectedQueue && !isForUpstream(name));
  return {
    rejected: states.find(({ name }) => name === rejectedQueue)?.messages,
    queues: {
      messages: inside.reduce((sum, { messages }) => sum + messages, 0),
      unattended: inside.filter(mayHoldMore).length,
    },
  };
}

const countUnattended = ({ service }: RunningService, states: readonly NamedState[]): number =>
  states.filter((each) => mayHoldMore(each) && takesFrom(service, each.name)).length;

const takesFrom = (service: RunningService['service'], queue: string): boolean =>
  service !== 'subscription-api' && USES[service].takesFrom.some((pattern) => matchesPattern(queue, pattern));

/** An answer is reused for this many times as long as it took. */
const TIMES_AS_OLD = 20;

/**
 * Shares an answer: all requests get the same one, until it is twenty times as old as it took. So, however many requests come, they cost
 * a twentieth of one connection. A failure is not kept.
 */
export function sharedAnswer<T>(ask: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let shared: { answer: Promise<T>; isOld: () => boolean } | undefined;
  return async () => {
    if (shared !== undefined && !shared.isOld()) return shared.answer;
    const askedAt = now();
    let until = Infinity;
    const answer = ask();
    const asked = (shared = { answer, isOld: () => now() >= until });
    try {
      await answer;
      until = now() + TIMES_AS_OLD * (now() - askedAt);
    } catch {
      if (shared === asked) shared = undefined;
    }
    return answer;
  };
}
