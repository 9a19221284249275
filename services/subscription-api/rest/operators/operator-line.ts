import type { EventLimits } from '@waybell/events/read-event';
import type { OperatorLine, RejectedWork } from '@waybell/line/operating/operator-line';
import { RejectedQueueTaken } from '@waybell/line/operating/rejected-queue';
import {
  listRejected,
  NotAnEvent,
  NotRejected,
  purgeRejected,
  replaceRejected,
  retryRejected,
  SeveralRejected,
  showRejected,
  type Retried,
} from '@waybell/rejected/rejected-messages';
import type { Log } from '@waybell/runtime/log';
import { Unavailable } from '@waybell/runtime/unavailable';
import { Router } from 'express';
import type { Database } from '../../database.ts';
import type { Authenticate } from '../authentication/authenticate.ts';
import { readJson } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { readNoQuery, requireKey } from '../http/read-query.ts';
import { addPath } from '../http/routes.ts';
import { waitingDestinations } from '../../waiting-rooms.ts';
import { admitOperator } from './admit-operator.ts';
import { correctedEventReader, correctedView } from './corrected-event.ts';
import { readPurge, readRejectedQuery, readRetry } from './line-requests.ts';
import { queueView, rejectedDetailView, rejectedView } from './line-views.ts';
import { destinationView } from './operator-views.ts';

export type OperatorLineOptions = {
  authenticate: Authenticate;
  database: Pick<Database, 'askLog'>;
  log: Log;
  /** Undefined where this process has no way to the broker. */
  line: OperatorLine | undefined;
  /** The names of all queues of the line. */
  queues: readonly string[];
  eventLimits: EventLimits;
};

type OfId = { id: string };

/** An answer lists at most so many messages or destinations one by one. */
const MOST_TOLD = 1_000;

/** The same as `./waybell rejected` and `./waybell status`, by the same functions. */
export function operatorLineRoutes(options: OperatorLineOptions): Router {
  const router = Router({ caseSensitive: true });
  addQueues(router, options);
  addRejected(router, options);
  addPublish(router, options);
  return router;
}

function addQueues(router: Router, { authenticate, database, line, queues }: OperatorLineOptions): void {
  addPath(router, ['/v1/admin/queues'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      readNoQuery(request);
      const states = await required(line).statesOf(queues);
      const waiting = await database.askLog((postgres) => waitingDestinations(postgres, { limit: MOST_TOLD }));
      response.json({ objects: states.map(queueView), waiting: { objects: waiting.map(destinationView) } });
    },
  });
}

function addRejected(router: Router, { authenticate, line, log }: OperatorLineOptions): void {
  addPath(router, ['/v1/admin/rejected'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const { limit, ...filter } = readRejectedQuery(request);
      const found = await onRejected(line, async (queue) => {
        const objects = await listRejected(queue, filter);
        return { objects: objects.slice(0, limit).map(rejectedView), is_complete: !queue.isCut() };
      });
      response.json(found);
    },
  });

  addPath(router, ['/v1/admin/rejected/retry'], {
    async post(request, response) {
      const { who } = await admitOperator(authenticate, request);
      const selection = readRetry(await readJson(request, response));
      const counts = { retried: 0, stayed: 0 };
      const done = await onRejected(line, async (queue, openLine) => {
        const objects: Retried[] = [];
        for await (const each of retryRejected(queue, await openLine(), selection)) {
          counts[each.kind === 'retried' ? 'retried' : 'stayed'] += 1;
          if (objects.length < MOST_TOLD) objects.push(each);
        }
        return { objects, is_complete: !queue.isCut() };
      });
      log.info({ who, selection, ...counts }, 'rejected.retried');
      response.json({ ...counts, ...done });
    },
  });

  addPath(router, ['/v1/admin/rejected/purge'], {
    async post(request, response) {
      const { who } = await admitOperator(authenticate, request);
      const { selection, isConfirmed } = readPurge(await readJson(request, response));
      let count = 0;
      const done = await onRejected(line, async (queue) => {
        const objects: object[] = [];
        for await (const facts of purgeRejected(queue, selection, { isTrial: !isConfirmed })) {
          count += 1;
          if (objects.length < MOST_TOLD) objects.push(rejectedView(facts));
        }
        return { objects, is_complete: !queue.isCut() };
      });
      if (isConfirmed) log.info({ who, selection, count }, 'rejected.purged');
      response.json({ is_deleted: isConfirmed, count, ...done });
    },
  });

  addPath<OfId>(router, ['/v1/admin/rejected/:id'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const name = requireKey('id', request.params.id);
      readNoQuery(request);
      response.json(rejectedDetailView(await onRejected(line, (queue) => showRejected(queue, name))));
    },
  });
}

function addPublish(router: Router, { authenticate, line, log, eventLimits }: OperatorLineOptions): void {
  const readCorrected = correctedEventReader(eventLimits);

  addPath<OfId>(router, ['/v1/admin/rejected/:id/publish'], {
    async post(request, response) {
      const { who } = await admitOperator(authenticate, request);
      const id = requireKey('id', request.params.id);
      const corrected = await readCorrected(request, response);
      const { event, publication } = corrected;
      await onRejected(line, async (queue, openLine) => replaceRejected(queue, await openLine(), { id, publication }));
      log.info({ who, rejected: id, event: event.guid }, 'rejected.republished');
      response.json(correctedView(corrected));
    },
  });

  // It says what publishing would, and needs neither the broker nor the rejected message.
  addPath<OfId>(router, ['/v1/admin/rejected/:id/check'], {
    async post(request, response) {
      await admitOperator(authenticate, request);
      requireKey('id', request.params.id);
      response.json(correctedView(await readCorrected(request, response)));
    },
  });
}

function required(line: OperatorLine | undefined): OperatorLine {
  if (line !== undefined) return line;
  const detail = 'Set ADMIN_AMQP_URL for this process: it names RabbitMQ, and a user with the rights of an operator.';
  throw new Problem('no-broker', detail);
}

/** Throws a Problem where the queue, or what is asked for, cannot be had, Unavailable while the broker is away. */
async function onRejected<T>(line: OperatorLine | undefined, work: RejectedWork<T>): Promise<T> {
  let isCut = () => false;
  try {
    return await required(line).onRejected((queue, openLine) => {
      ({ isCut } = queue);
      return work(queue, openLine);
    });
  } catch (error) {
    throw problemOf(error, isCut());
  }
}

function problemOf(error: unknown, isCut: boolean): unknown {
  if (error instanceof RejectedQueueTaken) return new Problem('rejected-taken', error.message);
  if (error instanceof SeveralRejected) return new Problem('several-rejected', error.message);
  if (error instanceof NotAnEvent) return new Problem('not-an-event', `${error.message}: retry it, or purge it.`);
  if (error instanceof NotRejected && !isCut) return new Problem('unknown-rejected', error.message);
  if (error instanceof NotRejected) {
    const detail = 'There was no time to look at all rejected messages; it is not among those that were looked at.';
    return new Problem('unavailable', detail, { headers: { 'retry-after': '5' } });
  }
  return error instanceof Error && error.cause instanceof Unavailable ? error.cause : error;
}
