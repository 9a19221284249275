/**
 * The delivery log for clients, the same on either interface: timelines, deliveries, the live feed, counts by the hour, and what was
 * missed. A client sees its own entries alone.
 */
import { Type } from 'typebox';
import type { Interface } from '@waybell/catalog/action';
import { nearestNames } from '@waybell/catalog/names';
import { bodyOf } from '@waybell/delivery-log/read/bodies';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { deliveryHistory, timelineOf } from '@waybell/delivery-log/read/history';
import { LARGEST_REPLAY } from '@waybell/delivery-log/read/limits';
import { momentOf } from '@waybell/events/timestamp';
import { missedByAction } from '../by-hand/missed-by-action.ts';
import { clientOf, type Caller } from '../rest/authentication/authenticate.ts';
import { askByKind, filterOf } from '../rest/deliveries/delivery-filter.ts';
import { pullPage, pullParameters, pullRequestOf } from '../rest/deliveries/pull.ts';
import { boundByReading } from '../rest/http/limits.ts';
import { Problem } from '../rest/http/problem.ts';
import { invalidParameters, pagingOf, requireKey, type PagingQuery } from '../rest/http/read-query.ts';
import { endWithToken } from '../rest/live/event-stream.ts';
import { LiveAttempt, liveKind, LiveNotice, LiveSkipped, LiveSuppressed } from '../rest/live/live.ts';
import { FeedPosition, POSITION_PATTERN } from '../rest/live/position.ts';
import {
  BY_QUERY,
  deliveryFilters,
  DeliveryDetail,
  key,
  ListedDelivery,
  pageOf,
  timeline,
  timelineByQuery,
  TimelineEvent,
} from './delivery-schemas.ts';
import { actionNames, namesOf } from './interface-subscriptions.ts';
import { reasonCounts } from './by-hand.ts';
import { parameter, byGuid, data, guidInPath, noQuery, one, operationsOf, sent } from './operation.ts';
import {
  component,
  count,
  flag,
  from,
  guid,
  list,
  moment,
  object,
  only,
  optional,
  orNull,
  text,
  type JsonNode,
} from './schema.ts';
import type { ActingServices } from './services.ts';

type DeliveryLogServices = Pick<
  ActingServices,
  'database' | 'catalog' | 'awaiting' | 'live' | 'knowAgain' | 'knownAgainMs' | 'countHours'
>;

const operation = operationsOf<DeliveryLogServices>();

const common = { method: 'get', tag: 'Delivery log', scope: 'webhooks:read' } as const;

const ofTimeline = {
  ...common,
  summary: 'See everything about an order, a vehicle, an offer …',
  answers: {
    200: data(
      'Events; none where nothing is known of it.',
      pageOf(TimelineEvent),
      byGuid('/objects/0/verdicts/0/delivery/guid', 'getDelivery'),
    ),
  },
} as const;

const describedBy = (how: string) =>
  `The events that the account was to hear of, newest first: what was sent to the client, what its receiver said, and what was not sent and why. Ask by any name of it, however it is spelled: a guid in an event's payload, the number of an order (\`number\`, \`id\`, \`order_id\`, \`purchase_order_number\`), a VIN, the \`subject\` of a CloudEvent, or the guid of the event itself. ${how}`;

type Asking = { caller: Caller; query: PagingQuery & { kind?: string }; services: DeliveryLogServices };

function tellAbout(name: string, { caller, query: { kind, ...page }, services }: Asking) {
  const about = { key: name, kind };
  const question = { about, reader: clientOf(caller), ...pagingOf(page) };
  return askByKind(services.database, about, (postgres) => timelineOf(postgres, question));
}

const action = (interfaces: readonly Interface[]) => {
  const names = interfaces.map((name) => actionNames[name]);
  const [first, another] = names;
  return first !== undefined && another === undefined ? first : Type.Unsafe<string>({ anyOf: names });
};

export const deliveryLogOperations = [
  operation({
    ...ofTimeline,
    path: '/v1/timeline',
    id: 'findTimeline',
    description: describedBy(BY_QUERY),
    query: timelineByQuery,
    handle: ({ query: { key: name = '', ...query }, ...asking }) =>
      tellAbout(requireKey('key', name), { ...asking, query }),
  }),

  operation({
    ...ofTimeline,
    path: '/v1/timeline/{key}',
    id: 'getTimeline',
    description: describedBy(`With a key that has slashes, dots or \`%\`, ask \`/v1/timeline?key=\`.`),
    parameters: { key: { schema: key, trait: 'parameters', read: (name: string) => requireKey('key', name) } },
    query: timeline,
    handle: ({ path, ...asking }) => tellAbout(path.key, asking),
  }),

  operation({
    ...common,
    path: '/v1/deliveries',
    id: 'listDeliveries',
    summary: 'Find deliveries',
    description:
      'Those of the client that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for.\n\nWith `after`, those that ended, delivered or not, in the order in which the log was told so: each end once, however late it came to the log, as it stands when it is asked for. One that is sent again by hand comes again. There is always a `next` to go on from, and `more` says whether it leads on at once. Bodies of a page have 2 MiB together at most, unless its first alone has more. As long as bodies are kept: then 410.',
    query: (interfaces) => ({ ...deliveryFilters(action(interfaces)), ...pullParameters }),
    answers: {
      200: data(
        'Deliveries.',
        pageOf(ListedDelivery, {
          more: optional(flag('Only with `after`: whether there is more than this page already.')),
        }),
        byGuid('/objects/0/guid', 'getDelivery', 'resendDelivery'),
      ),
    },
    problems: ['no-longer-kept'],
    handle({ caller, query, response, services }) {
      const reader = clientOf(caller);
      const pull = pullRequestOf(query);
      if (pull !== undefined) return pullPage({ ...services, reader, pull }, response);
      const question = { reader, filter: filterOf(query), ...pagingOf(query) };
      const named = { key: question.filter.about?.key, kind: query.kind };
      return askByKind(services.database, named, (postgres) => findDeliveries(postgres, question));
    },
  }),

  operation({
    ...common,
    path: '/v1/deliveries/{guid}',
    id: 'getDelivery',
    summary: 'See a delivery, its attempts and what was sent',
    description: 'One of the client, or of a listener of it.',
    parameters: { guid: guidInPath('As `webhook-id`.') },
    query: noQuery,
    answers: { 200: one('The delivery.', DeliveryDetail) },
    problems: ['unknown-delivery'],
    async handle({ caller, path: { guid: delivery }, services }) {
      const reader = { ...clientOf(caller), withListeners: true } as const;
      const found = await services.database.askLog(async (postgres) => {
        const entry = await deliveryHistory(postgres, { delivery }, reader);
        return entry && { ...entry, body: await bodyOf(postgres, delivery) };
      });
      if (found !== undefined) return found;
      throw new Problem('unknown-delivery', 'This client has no delivery of that guid, or it is no longer kept.');
    },
  }),
];

const stream: JsonNode = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Of `event: attempt` the `data` is a LiveAttempt, of `event: suppressed` a LiveSuppressed, of `event: notice` a LiveNotice, of `event: skipped` a LiveSkipped, as JSON on one line. Each has an `id`; so has each comment, which comes every 15 seconds at least.',
    },
    examples: {
      attempt: {
        value:
          'event: attempt\nid: mi8x3k2o.q83v\ndata: {"delivery_guid":"a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11", …}\n\n: alive\nid: mi8x3k2o.q83v\n\n',
      },
    },
  },
};

const NEAREST = 3;

export const liveOperation = operation({
  ...common,
  path: '/v1/live',
  id: 'streamLive',
  summary: 'See what happens now',
  description:
    'Server-sent events, until the client closes the connection: each attempt, each event for the account that the client was not sent, and each notice of what became of a subscription, a second or two after it happened, in the order in which the log has them. What comes to the log more than 30 seconds after it happened may be missing, and so may what happens faster than 500 records a second, of which `skipped` tells: `/v1/deliveries` has it all. A stream ends when its token does not hold any more, when its reader falls too far behind, and when the process stops: connect again, with `Last-Event-ID`.',
  query: (interfaces) => ({
    // The answer to another one names the nearest.
    action: {
      ...parameter('Only of this action of the interface.', text({ maxLength: 100 })),
      shown: action(interfaces),
    },
    kind: parameter('Only attempts that ended so, `suppressed` events, or each `notice`.', liveKind),
  }),
  headers: {
    'Last-Event-ID': parameter(
      'The `id` that came last: the feed goes on after it, with what happened meanwhile. Without it, the feed begins now.',
      text({ maxLength: 100 }),
    ),
  },
  answers: { 200: sent('The stream.', stream) },
  also: [LiveAttempt, LiveSuppressed, LiveNotice, LiveSkipped],
  handle({ caller, query: filter, request, response, services: { catalog, live, ...again } }) {
    const names = namesOf(caller.interface, catalog);
    if (filter.action !== undefined && !names.includes(filter.action)) {
      const detail = `must be an action of the ${caller.interface} interface; the nearest are: ${nearestNames(filter.action, names, NEAREST).join(', ')}`;
      throw invalidParameters([{ parameter: 'action', detail }]);
    }
    const position = positionAfter(request.headersDistinct['last-event-id']?.join(', '));
    if (request.method === 'HEAD') return void response.type('text/event-stream').end();
    boundByReading(response);
    const opened = live.open({ reader: clientOf(caller), filter, position, response });
    endWithToken(opened, { request, caller, scope: common.scope, ...again });
  },
});

function positionAfter(id: string | undefined): FeedPosition {
  if (id === undefined) return new FeedPosition(Date.now());
  if (new RegExp(POSITION_PATTERN).test(id)) return FeedPosition.read(id, Date.now());
  const detail = 'must be the id of an event of this feed; leave the header out to begin now';
  throw invalidParameters([{ parameter: 'Last-Event-ID', detail }]);
}

const StatisticsOfAction = component(
  'StatisticsOfAction',
  object({
    action: text(),
    buckets: list(
      object({
        at: moment('When the hour begins.'),
        delivered: count('Attempts that arrived.'),
        retried: count('Attempts that failed, after which another follows.'),
        given_up: count('Deliveries that were given up (`exhausted`) or dropped.'),
        suppressed: count('Events for the account that were not sent to the client.'),
      }),
      'Every hour, the first one first.',
    ),
  }),
);

const Statistics = component(
  'Statistics',
  object({
    since: moment('The beginning of the first hour.'),
    until: moment('When it was asked for.'),
    bucket_seconds: only(3_600),
    objects: from('actions', list(StatisticsOfAction, 'By action.')),
  }),
);

export const statisticsOperation = operation({
  ...common,
  path: '/v1/statistics',
  id: 'getStatistics',
  summary: 'See how many deliveries arrived, hour by hour',
  description:
    'Of the client, in the last 24 whole hours and the one that runs: every action that is subscribed now, or that there is something of. An attempt counts in the hour in which it ended, so that what was sent again counts again; tests by hand never count. What is known late of an hour that is over may be told hours later.',
  query: noQuery,
  answers: { 200: data('Counts by action and hour.', Statistics) },
  handle({ caller, services: { database, catalog, countHours } }) {
    const counted = { reader: clientOf(caller), actions: namesOf(caller.interface, catalog), now: Date.now() };
    return database.askLog((postgres) => countHours(postgres, counted));
  },
});

const MissedOfAction = component(
  'MissedOfAction',
  object({
    action: text(),
    subscription_guid: orNull(guid(), 'The one that the client has to it now, which a replay goes to; null: none.'),
    is_active: flag('False: it is switched off, or there is none, so that nothing can be replayed to it.'),
    exhausted: count('Deliveries that were given up, as every attempt failed.'),
    dropped: count('Deliveries that ended without an attempt to its end.'),
    suppressed: count('Events that no delivery was made of, as no subscription was on.'),
    gone: count('Others, of all three kinds, whose body is no longer kept: they cannot be sent.'),
    reasons: reasonCounts,
  }),
);

const Missed = component(
  'Missed',
  object({
    since: from('sinceMs', moment()),
    until: from('untilMs', moment()),
    counted_until: from(
      'countedUntilMs',
      orNull(moment(), 'Null: all of it is counted. Else there is more from then on: ask again with that as `since`.'),
    ),
    objects: from('actions', list(MissedOfAction, 'By action; none that the client missed nothing of.')),
  }),
);

const DAY_MS = 86_400_000;

export const missedOperation = operation({
  ...common,
  tag: 'Sending by hand',
  path: '/v1/missed',
  id: 'getMissed',
  summary: 'See what the client missed, action by action',
  description: `Of the actions that the client was subscribed to at some time of the range, or is now: what was given up or dropped, and the events that nothing was sent of, as no subscription was on. What has arrived since, or is on its way, is not missed. \`POST /v1/replays\` with \`"action": "*"\`, the same times and \`include_suppressed\` sends what \`exhausted\`, \`dropped\` and \`suppressed\` count where \`is_active\` is true. The ${LARGEST_REPLAY.toLocaleString('en')} oldest are counted, as many as one replay takes.`,
  query: {
    since: parameter(
      'What was given up or dropped, or failed, from then on; without it, from 24 hours before `until`.',
      moment(),
    ),
    until: parameter('And before; without it, now.', moment()),
  },
  answers: { 200: data('What was missed.', Missed) },
  async handle({ caller, query: { since, until }, services: { database } }) {
    const untilMs = until === undefined ? Date.now() : momentOf(until);
    const sinceMs = since === undefined ? untilMs - DAY_MS : momentOf(since);
    if (sinceMs >= untilMs) throw invalidParameters([{ parameter: 'since', detail: 'must be before until' }]);
    const range = { client: clientOf(caller), sinceMs, untilMs };
    return { ...range, ...(await database.askLog((postgres) => missedByAction(postgres, range))) };
  },
});
