/**
 * The line for operators: queues, and rejected messages, which are listed, retried, deleted, or published again corrected; as `./waybell
 * rejected` and `status`, by the same functions.
 */
import { isUtf8 } from 'node:buffer';
import { Type } from 'typebox';
import { KEY_PATTERN, LONGEST_KEY, type Invalid } from '@waybell/events/event';
import { decodeBody } from '@waybell/events/read-event';
import type { NamedState } from '@waybell/line/broker/broker-connection';
import { mayHoldMore } from '@waybell/line/operating/describe-consumers';
import type { OperatorLine, RejectedWork } from '@waybell/line/operating/operator-line';
import { RejectedQueueTaken, type RejectedMessage } from '@waybell/line/operating/rejected-queue';
import type { CheckedEvent } from '@waybell/rejected/check-event';
import {
  factsOf,
  listRejected,
  NotAnEvent,
  NotRejected,
  purgeRejected,
  replaceRejected,
  retryRejected,
  SeveralRejected,
  showRejected,
  type RejectedFacts,
  type Retried,
} from '@waybell/rejected/rejected-messages';
import {
  LARGEST_BYTES,
  plainOf,
  readSelection,
  type Selection,
  type SelectionOptions,
} from '@waybell/rejected/selection';
import { Unavailable } from '@waybell/runtime/unavailable';
import { invalidBody, jsonBytesReader, pointTo } from '../rest/http/body.ts';
import { Problem } from '../rest/http/problem.ts';
import { requireKey } from '../rest/http/read-query.ts';
import { waitingDestinations as listDestinations } from '../waiting-rooms.ts';
import {
  parameter,
  bare,
  defaultedParameter,
  noQuery,
  operationsOf,
  type PathParameter,
  type Served,
} from './operation.ts';
import { waitingDestinations } from './operator-schemas.ts';
import {
  choice,
  closed,
  component,
  count,
  defaulted,
  described,
  flag,
  from,
  guid,
  list,
  object,
  oneOf,
  only,
  optional,
  orNull,
  text,
  whole,
} from './schema.ts';
import type { OperatorServices } from './services.ts';

/** An answer lists at most so many messages or destinations one by one. */
const MOST_LISTED = 1_000;

const reason = text({ minLength: 1, maxLength: 100, examples: ['payload_invalid'] });
const about = text({
  pattern: KEY_PATTERN,
  maxLength: LONGEST_KEY,
  description: 'a guid, a number, a VIN or another name of something',
  examples: ['4711'],
});

/** Exactly one of these says which rejected messages are meant. */
const selection = {
  ids: optional(
    list(text({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: 1_000,
      description: 'Ids or message ids, or guids of events.',
    }),
  ),
  reason: optional(described(reason, 'All of this reason.')),
  about: optional(described(about, 'all that name a guid, a number, a VIN or another name of something')),
  all: optional(choice([true], { type: 'boolean', description: 'All that lie there.' })),
};

const Queue = component(
  'Queue',
  object({
    name: text(),
    messages: count('Ready to be taken.'),
    consumers: count(),
    is_known: from(
      (state: NamedState) => !mayHoldMore(state),
      flag('False: RabbitMQ answered in a way that it answers in when it does not know.'),
    ),
  }),
);

const Queues = component('Queues', object({ objects: list(Queue), waiting: waitingDestinations }));

/** Names as AMQP has them, where it has any. */
const rejected = {
  id: text({
    pattern: '^[0-9a-f]{10}$',
    description: 'Made of the message itself: the same as long as it lies there.',
  }),
  reason: text({ description: 'Of those that failure-reasons.md lists.', examples: ['payload_invalid'] }),
  detail: text('What exactly is wrong; may be empty.'),
  rejected_at: from(
    ({ rejectedAt }: RejectedFacts) => (rejectedAt === '' ? null : rejectedAt),
    orNull(text({ format: 'date-time' })),
  ),
  queue: text('Where it was rejected.'),
  exchange: text('By which it had come.'),
  routing_key: text(),
  size: count('Of its body, in bytes.'),
  message_id: optional(text()),
  user_id: optional(text('Who published it, where RabbitMQ has checked that.')),
  type: optional(text()),
  correlation_id: optional(from('note', text())),
  content_type: optional(text()),
  content_encoding: optional(text()),
  traceparent: optional(text()),
};

const Rejected = component('Rejected', object(rejected));

const isComplete = flag('False: there was no time for all that lie there. Ask again.');

const RejectedList = component('RejectedList', object({ objects: list(Rejected), is_complete: isComplete }));

const RejectedDetail = component(
  'RejectedDetail',
  object({
    ...rejected,
    body: text('Decompressed; records of what became of deliveries as they read.'),
    body_encoding: choice(['utf-8', 'base64'], '`base64`: it is no text, and told as it lies there.'),
  }),
);

const Put = oneOf([
  object({ id: text(), kind: only('retried'), to: text('Where it went.') }),
  object({ id: text(), kind: only('stays'), why: text() }),
]);

const RetriedMessages = component(
  'Retried',
  object({
    retried: count('How many are back on the line; what is still wrong is rejected again.'),
    stayed: count(),
    objects: list(Put, 'What became of the first 1,000.'),
    is_complete: isComplete,
  }),
);

const Purged = component(
  'Purged',
  object({
    is_deleted: flag('False: it was not confirmed, and they are still there.'),
    count: count('How many were deleted, or would be.'),
    objects: list(Rejected, 'The first 1,000.'),
    is_complete: isComplete,
  }),
);

/** An event that would be accepted. */
type Accepted = Extract<CheckedEvent, { kind: 'event' }>;

const CorrectedEvent = component(
  'CorrectedEvent',
  object({
    event_guid: from(({ event }: Accepted) => event.guid, guid()),
    routing_key: from(({ publication }: Accepted) => publication.routingKey, text()),
    unknown_members: from(
      ({ event }: Accepted) => event.unknownMembers.places,
      list(
        text({ examples: ['/payload/colour'] }),
        'Members that the contract does not know: notifications leave them out.',
      ),
    ),
  }),
);

const idInPath = (description: string): PathParameter<string> => ({
  schema: about,
  description,
  trait: 'parameters',
  read: (name) => requireKey('id', name),
});

const common = { tag: 'Line', scope: 'admin' } as const;

/** Problems that RabbitMQ may cause. */
const OF_BROKER = ['no-broker'] as const;
const OF_REJECTED = [...OF_BROKER, 'rejected-taken'] as const;

/** `handle` reads it. */
const anEvent = { schema: Type.Unsafe<unknown>({ type: 'object' }), isUnread: true } as const;

type LineServices = Pick<OperatorServices, 'database' | 'line' | 'queues' | 'log' | 'eventLimits'>;

const operation = operationsOf<LineServices>();

/** The paths of all rejected messages come before those of one. */
export const lineOperations = [
  operation({
    ...common,
    method: 'get',
    path: '/v1/admin/queues',
    id: 'listQueues',
    summary: 'See what waits in every queue, and in Postgres for RabbitMQ',
    query: noQuery,
    answers: { 200: bare('The queues that there are.', Queues) },
    problems: OF_BROKER,
    async handle({ services: { database, line, queues } }) {
      const states = await required(line).statesOf(queues);
      const waiting = await database.askLog((postgres) => listDestinations(postgres, { limit: MOST_LISTED }));
      return { objects: states, waiting: { objects: waiting } };
    },
  }),

  operation({
    ...common,
    method: 'get',
    path: '/v1/admin/rejected',
    id: 'listRejected',
    summary: 'List what the line refused',
    description: 'Oldest first. The same as `./waybell rejected list`.',
    query: {
      reason: parameter('Only those of this reason.', reason),
      about: parameter('Only those that name it anywhere in their text.', about),
      limit: defaultedParameter('How many, at most.', whole({ minimum: 1, maximum: MOST_LISTED, default: 100 })),
    },
    answers: { 200: bare('Rejected messages, without their bodies.', RejectedList) },
    problems: OF_REJECTED,
    handle: ({ query: { limit, ...filter }, services: { line } }) =>
      onRejected(line, async (queue) => {
        const found = await listRejected(queue, filter);
        return { objects: found.slice(0, limit), isComplete: !queue.isCut() };
      }),
  }),

  operation({
    ...common,
    method: 'post',
    path: '/v1/admin/rejected/retry',
    id: 'retryRejected',
    summary: 'Put rejected messages back on the line',
    description:
      'Puts them back where they came from; each is removed once RabbitMQ has confirmed it. Say which by exactly one member. The same as `./waybell rejected retry`.',
    body: { schema: closed(selection) },
    answers: { 200: bare('What became of them.', RetriedMessages) },
    problems: ['unknown-rejected', ...OF_REJECTED],
    async handle({ caller, body, services: { line, log } }) {
      const wanted = selectedBy(body);
      const counts = { retried: 0, stayed: 0 };
      const done = await onRejected(line, async (queue, openLine) => {
        const objects: Retried[] = [];
        for await (const each of retryRejected(queue, await openLine(), wanted)) {
          counts[each.kind === 'retried' ? 'retried' : 'stayed'] += 1;
          if (objects.length < MOST_LISTED) objects.push(each);
        }
        return { objects, isComplete: !queue.isCut() };
      });
      log.info({ who: caller.actor.who, selection: wanted, ...counts }, 'rejected.retried');
      return { ...counts, ...done };
    },
  }),

  operation({
    ...common,
    method: 'post',
    path: '/v1/admin/rejected/purge',
    id: 'purgeRejected',
    summary: 'Delete rejected messages for good',
    description:
      'Say which by exactly one member. Without `confirm` nothing is deleted. The same as `./waybell rejected purge`.',
    body: {
      schema: closed({
        ...selection,
        confirm: defaulted(flag({ default: false, description: 'Without it, it is only told what would be deleted.' })),
      }),
    },
    answers: { 200: bare('What was, or would be, deleted.', Purged) },
    problems: ['unknown-rejected', ...OF_REJECTED],
    async handle({ caller, body: { confirm: isDeleted, ...chosen }, services: { line, log } }) {
      const wanted = selectedBy(chosen);
      let purged = 0;
      const done = await onRejected(line, async (queue) => {
        const objects: RejectedFacts[] = [];
        for await (const facts of purgeRejected(queue, wanted, { isTrial: !isDeleted })) {
          purged += 1;
          if (objects.length < MOST_LISTED) objects.push(facts);
        }
        return { objects, isComplete: !queue.isCut() };
      });
      if (isDeleted) log.info({ who: caller.actor.who, selection: wanted, count: purged }, 'rejected.purged');
      return { isDeleted, count: purged, ...done };
    },
  }),

  operation({
    ...common,
    method: 'get',
    path: '/v1/admin/rejected/{id}',
    id: 'getRejected',
    summary: 'See a rejected message and its body',
    parameters: {
      id: idInPath(
        'Its id or message id, the guid of the event, or any key that only this one names; of a key with slashes, `/v1/admin/rejected?about=` tells the id.',
      ),
    },
    query: noQuery,
    answers: { 200: bare('The message.', RejectedDetail) },
    problems: ['unknown-rejected', 'several-rejected', ...OF_REJECTED],
    async handle({ path, services: { line } }) {
      const found = await onRejected(line, (queue) => showRejected(queue, path.id));
      return { ...factsOf(found), ...readableBody(found) };
    },
  }),

  operation({
    ...common,
    method: 'post',
    path: '/v1/admin/rejected/{id}/publish',
    id: 'publishCorrected',
    summary: 'Publish a rejected event, corrected',
    description:
      'Send the event as it is to be published, digit for digit, up to 1 MiB. It is checked as `./waybell publish` checks it, and takes the place of the rejected one once RabbitMQ has confirmed it.',
    parameters: { id: idInPath('Its id.') },
    body: anEvent,
    answers: { 200: bare('It is on the line, and the rejected one is gone.', CorrectedEvent) },
    problems: [
      'body-too-large',
      'unsupported-media-type',
      'invalid-body',
      'unknown-rejected',
      'not-an-event',
      ...OF_REJECTED,
    ],
    async handle({ path: { id }, ...served }) {
      const corrected = await readCorrected(served);
      const { line, log } = served.services;
      const { event, publication } = corrected;
      await onRejected(line, async (queue, openLine) => replaceRejected(queue, await openLine(), { id, publication }));
      log.info({ who: served.caller.actor.who, rejected: id, event: event.guid }, 'rejected.republished');
      return corrected;
    },
  }),

  operation({
    ...common,
    method: 'post',
    path: '/v1/admin/rejected/{id}/check',
    id: 'checkCorrected',
    summary: 'Check a corrected event, without publishing it',
    description:
      'Send what is to be published. The answer is what publishing it would say of it; RabbitMQ is not asked, and nothing changes.',
    parameters: { id: idInPath('The id of the one that it is meant for: it is not looked for.') },
    body: anEvent,
    answers: { 200: bare('It would be taken.', CorrectedEvent) },
    problems: ['body-too-large', 'unsupported-media-type', 'invalid-body'],
    handle: readCorrected,
  }),
];

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

/** Throws a Problem (422) unless exactly one way of selecting is given. */
function selectedBy(options: SelectionOptions): Selection {
  const selected = readSelection(options);
  if (selected !== undefined) return selected;
  throw invalidBody([{ pointer: '#', detail: 'must have exactly one of ids, reason, about and all' }]);
}

/**
 * Reads a body as an event, by the rules of the line. Throws a Problem: as `jsonBytesReader`, or 422 with what is wrong with the event, and
 * where.
 */
async function readCorrected({
  request,
  response,
  services: { eventLimits },
}: Served<LineServices>): Promise<Accepted> {
  const body = await jsonBytesReader(eventLimits.maxBytes)(request, response);
  // Few processes are ever asked, and the schemas of all events take time and memory.
  const { checkEvent } = await import('@waybell/rejected/check-event');
  const checked = checkEvent(body, eventLimits);
  if (checked.kind === 'invalid') throw invalidEvent(checked);
  return checked;
}

/** Says what was wrong, and where, as the router would. */
function invalidEvent({ reason: rule, detail, place = '' }: Invalid): Problem {
  return invalidBody([{ pointer: pointTo(...place.split('/').slice(1)), detail: `${rule}: ${detail}` }]);
}

/** As text, where it is one. */
function readableBody(message: RejectedMessage) {
  const decoded = decodeBody(message, LARGEST_BYTES);
  const plain = decoded.kind === 'bytes' ? plainOf(decoded.bytes) : message.body;
  return isUtf8(plain)
    ? { body: plain.toString(), bodyEncoding: 'utf-8' }
    : { body: message.body.toString('base64'), bodyEncoding: 'base64' };
}
