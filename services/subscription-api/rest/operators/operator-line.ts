/** The line for operators: queues, and rejected messages, which are listed, retried, deleted, or published again corrected. */
import { isUtf8 } from 'node:buffer';
import { Router, type Request, type Response } from 'express';
import { purgeRequest, rejectedParameters, retryRequest } from '../../operations/admin-line-paths.ts';
import { decodeBody, type EventLimits } from '@waybell/events/read-event';
import type { Invalid } from '@waybell/events/event';
import type { NamedState } from '@waybell/line/broker/broker-connection';
import { mayHoldMore } from '@waybell/line/operating/describe-consumers';
import type { OperatorLine, RejectedWork } from '@waybell/line/operating/operator-line';
import { RejectedQueueTaken, type RejectedMessage } from '@waybell/line/operating/rejected-queue';
import type { CheckedEvent } from '@waybell/rejected/check-event';
import {
  listRejected,
  NotAnEvent,
  NotRejected,
  purgeRejected,
  replaceRejected,
  retryRejected,
  SeveralRejected,
  showRejected,
  factsOf,
  type Retried,
  type RejectedFacts,
} from '@waybell/rejected/rejected-messages';
import { LARGEST_BYTES, plainOf, type Selection } from '@waybell/rejected/selection';
import type { Log } from '@waybell/runtime/log';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Database } from '../../database.ts';
import { waitingDestinations } from '../../waiting-rooms.ts';
import { admitOperator, type Authenticate } from '../authentication/authenticate.ts';
import { readJson, bodyReader, invalidBody, jsonBytesReader, pointTo } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { readNoQuery, requireKey, queryReader } from '../http/read-query.ts';
import { addPath } from '../http/routes.ts';
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
const MOST_LISTED = 1_000;

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
      const waiting = await database.askLog((postgres) => waitingDestinations(postgres, { limit: MOST_LISTED }));
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
          if (objects.length < MOST_LISTED) objects.push(each);
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
          if (objects.length < MOST_LISTED) objects.push(rejectedView(facts));
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

/** Works on rejected messages. Throws a Problem if their queue is in use, or lacks the message; Unavailable while the broker is away. */
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

type RejectedChoice = { ids?: string[]; reason?: string; about?: string; all?: true };

// Each throws a Problem (422) that names everything wrong with what it reads.

/** Reads the filters of rejected messages. */
const readRejectedQuery = queryReader<{ reason?: string; about?: string; limit: number }>(rejectedParameters);

/** The body of a request to put rejected messages back. */
const readRetry = (body: unknown): Selection => selectionOf(readChoice(body));

/** The body of a request to delete rejected messages. */
function readPurge(body: unknown): { selection: Selection; isConfirmed: boolean } {
  const { confirm: isConfirmed, ...choice } = readConfirmed(body);
  return { selection: selectionOf(choice), isConfirmed };
}

const readChoice = bodyReader<RejectedChoice>(retryRequest);
const readConfirmed = bodyReader<RejectedChoice & { confirm: boolean }>(purgeRequest);

/** Requires an explicit choice: messages must not be changed by oversight. */
function selectionOf({ ids, reason, about, all }: RejectedChoice): Selection {
  const ways: Selection[] = [];
  if (ids !== undefined) ways.push({ kind: 'ids', ids });
  if (reason !== undefined) ways.push({ kind: 'reason', reason });
  if (about !== undefined) ways.push({ kind: 'about', key: about });
  if (all) ways.push({ kind: 'all' });
  const [way] = ways;
  if (way === undefined || ways.length > 1)
    throw invalidBody([{ pointer: '#', detail: 'must have exactly one of ids, reason, about and all' }]);
  return way;
}

/** An event that would be accepted. */
type CorrectedEvent = Extract<CheckedEvent, { kind: 'event' }>;

type ReadCorrected = (request: Request, response: Response) => Promise<CorrectedEvent>;

/** Reads a body as an event, by the rules of the line. Throws a Problem: as `jsonBytesReader`, or 422 with what is wrong with the event, and where. */
function correctedEventReader(limits: EventLimits): ReadCorrected {
  const readEventBytes = jsonBytesReader(limits.maxBytes);
  return async (request, response) => {
    const body = await readEventBytes(request, response);
    // Few processes are ever asked, and the schemas of all events take time and memory.
    const { checkEvent } = await import('@waybell/rejected/check-event');
    const checked = checkEvent(body, limits);
    if (checked.kind === 'invalid') throw invalidEvent(checked);
    return checked;
  };
}

function correctedView({ event, publication }: CorrectedEvent) {
  return {
    event_guid: event.guid,
    routing_key: publication.routingKey,
    unknown_members: event.unknownMembers.places,
  };
}

/** Says what was wrong, and where, as the router would. */
function invalidEvent({ reason, detail, place = '' }: Invalid): Problem {
  return invalidBody([{ pointer: pointTo(...place.split('/').slice(1)), detail: `${reason}: ${detail}` }]);
}

function queueView(state: NamedState) {
  const { name, messages, consumers } = state;
  return { name, messages, consumers, is_known: !mayHoldMore(state) };
}

/** Names members as AMQP does, where it has a name. */
function rejectedView(facts: RejectedFacts) {
  return {
    id: facts.id,
    reason: facts.reason,
    detail: facts.detail,
    rejected_at: facts.rejectedAt === '' ? null : facts.rejectedAt,
    queue: facts.queue,
    exchange: facts.exchange,
    routing_key: facts.routingKey,
    size: facts.size,
    message_id: facts.messageId,
    user_id: facts.userId,
    type: facts.type,
    correlation_id: facts.note,
    content_type: facts.contentType,
    content_encoding: facts.contentEncoding,
    traceparent: facts.traceparent,
  };
}

/** With its body: as text, where it is one. */
function rejectedDetailView(rejected: RejectedMessage) {
  return { ...rejectedView(factsOf(rejected)), ...bodyView(rejected) };
}

function bodyView(rejected: RejectedMessage) {
  const decoded = decodeBody(rejected, LARGEST_BYTES);
  const plain = decoded.kind === 'bytes' ? plainOf(decoded.bytes) : rejected.body;
  return isUtf8(plain)
    ? { body: plain.toString(), body_encoding: 'utf-8' }
    : { body: rejected.body.toString('base64'), body_encoding: 'base64' };
}
