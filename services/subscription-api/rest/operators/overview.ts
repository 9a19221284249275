/** The overview for operators: services, waiting deliveries, subscriptions that are off, the last hour, and queues. */
import { Router } from 'express';
import { matchesPattern } from '@waybell/catalog/names';
import type { NamedState } from '@waybell/line/broker/broker-connection';
import { USES } from '@waybell/line/line-topology';
import { mayHoldMore } from '@waybell/line/operating/describe-consumers';
import type { OperatorLine } from '@waybell/line/operating/operator-line';
import { isForUpstream, rejectedQueue } from '@waybell/line/topology';
import type { Queryable } from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Database } from '../../database.ts';
import { oldestUndelivered } from '../../failing.ts';
import { countHeldBack } from '../../interrupted.ts';
import { countLately, countOff, runningServices, type RunningService } from '../../overview.ts';
import { waitingEndpoints, waitingInAll } from '../../waiting-rooms.ts';
import { admitOperator, type Authenticate } from '../authentication/authenticate.ts';
import { moment } from '../deliveries/history-view.ts';
import { readNoQuery } from '../http/read-query.ts';
import { addPath } from '../http/routes.ts';
import { viewsOf } from './operator-log.ts';
import { momentOrNull } from './operator-views.ts';

type OverviewOptions = {
  authenticate: Authenticate;
  database: Pick<Database, 'askLog'>;
  /** Undefined where this process has no way to the broker. */
  line: OperatorLine | undefined;
  /** The names of all queues of the line. */
  queues: readonly string[];
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST_ENDPOINTS = 5;

/** Shows the state of the whole installation in one answer. What cannot be read now is null; without Postgres there is no answer. */
export function overviewRoutes({ authenticate, database, line, queues }: OverviewOptions): Router {
  const router = Router({ caseSensitive: true });
  // It reads every attempt of an hour.
  const lastHourNow = sharedAnswer(() => database.askLog((postgres) => readLastHour(postgres, Date.now() - HOUR_MS)));
  addPath(router, ['/v1/admin/overview'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      readNoQuery(request);
      const now = Date.now();
      const [tables, lastHour, states] = await Promise.all([
        database.askLog((postgres) => readTables(postgres, now - DAY_MS)),
        orNull(lastHourNow()),
        line === undefined ? null : orNull(line.statesOf(queues)),
      ]);
      const { services, ...others } = tables;
      const objects = services.map((each) => serviceView(each, states));
      const queuesNow = states === null ? NO_QUEUES : queuesView(states);
      response.json({ services: { objects }, ...others, last_hour: lastHour, ...queuesNow });
    },
  });
  return router;
}

/** Null while the dependency is away, or too busy to answer in time. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof Unavailable) return null;
    throw error;
  });
}

async function readTables(postgres: Queryable, sinceMs: number) {
  const services = await runningServices(postgres);
  const { endpoints } = await waitingInAll(postgres);
  const longest = await waitingEndpoints(postgres, { limit: MOST_ENDPOINTS });
  const off = await countOff(postgres, sinceMs);
  const held = await countHeldBack(postgres);
  const views = await viewsOf(postgres, longest);
  return {
    services,
    waiting: {
      deliveries: endpoints.rows,
      endpoints: endpoints.rooms,
      shut: endpoints.shut,
      oldest_at: momentOrNull(endpoints.oldestAt),
      longest: { objects: longest.map(views.endpoint) },
    },
    switched_off: { now: off.off, since: moment(sinceMs), lately: off.offLately, held },
    stopped: { subscriptions: off.stoppedSubscriptions, hosts: off.stoppedHosts },
  };
}

async function readLastHour(postgres: Queryable, sinceMs: number) {
  const { failed, attempts, rejected, lastRejectedAt } = await countLately(postgres, sinceMs);
  const unfinished = await oldestUndelivered(postgres, { sinceMs, limit: 1 });
  const [oldest = null] = unfinished.map((await viewsOf(postgres, unfinished)).undelivered);
  return {
    since: moment(sinceMs),
    failed,
    attempts,
    rejected,
    last_rejected_at: momentOrNull(lastRejectedAt),
    oldest_unfinished: oldest,
  };
}

const NO_QUEUES = { rejected: null, queues: null };

/** Queues that upstream reads are no backlog. */
function queuesView(states: readonly NamedState[]) {
  const inside = states.filter(({ name }) => name !== rejectedQueue && !isForUpstream(name));
  return {
    rejected: states.find(({ name }) => name === rejectedQueue)?.messages ?? null,
    queues: {
      messages: inside.reduce((sum, { messages }) => sum + messages, 0),
      unattended: inside.filter(mayHoldMore).length,
    },
  };
}

const serviceView = ({ service, processes, silent, ...at }: RunningService, states: readonly NamedState[] | null) => ({
  service,
  processes,
  started_at: momentOrNull(at.startedAt),
  last_started_at: momentOrNull(at.lastStartedAt),
  seen_at: momentOrNull(at.seenAt),
  silent,
  silent_since: momentOrNull(at.silentSince),
  unattended: states && states.filter((each) => mayHoldMore(each) && takesFrom(service, each.name)).length,
});

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
