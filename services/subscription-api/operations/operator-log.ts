/**
 * The delivery log, the tables and the audit log for operators: as `./waybell why`, `failing`, `waiting list` and `audit`, by the same
 * functions.
 */
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { subscriptionsOf } from '@waybell/delivery-log/read/subscriptions';
import { momentOf } from '@waybell/events/timestamp';
import type { Queryable } from '@waybell/runtime/postgres';
import { findAccount } from '../accounts.ts';
import { readAuditLog } from '../audit-log.ts';
import { failingOrigins, oldestUndelivered } from '../failing.ts';
import {
  interruptedSubscriptions,
  latestNotices,
  subscriptionsHeldBack,
  subscriptionsSwitchedOff,
} from '../interrupted.ts';
import { askByKind, filterOf } from '../rest/deliveries/delivery-filter.ts';
import { Problem } from '../rest/http/problem.ts';
import { pagingOf, requireKey, type PagingQuery } from '../rest/http/read-query.ts';
import { waitingDestinations, waitingEndpoints } from '../waiting-rooms.ts';
import { why } from '../why.ts';
import { ClientId } from './accounts.ts';
import { BY_QUERY, deliveryFilters, key, keyKind, pageOf, paging } from './delivery-schemas.ts';
import { parameter, bare, defaultedParameter, guidInPath, operationsOf, Replied } from './operation.ts';
import {
  Change,
  Failing,
  HeldDeactivation,
  namesOf,
  OperatorDelivery,
  OperatorSubscription,
  SwitchedOff,
  Told,
  Waiting,
} from './operator-schemas.ts';
import { actionName, choice, flag, guid, moment, objects } from './schema.ts';
import type { OperatorServices } from './services.ts';

type OperatorLogServices = Pick<OperatorServices, 'database'>;

const operation = operationsOf<OperatorLogServices>();

const HOUR_MS = 3_600_000;

/** Kinds that a text may be searched as. */
const FOUND_KINDS = ['event', 'delivery', 'key', 'subscription', 'account'] as const;

const account = parameter('Of this account alone.', guid());
const listeners = defaultedParameter('Whether those of `./waybell listen` are meant, too.', flag({ default: false }));
const { limit } = paging;
const oneMeaning = {
  as: parameter('What it is, where it may mean several things.', choice(FOUND_KINDS)),
  kind: keyKind,
  listeners,
  ...paging,
};

const common = { method: 'get', tag: 'Delivery log', scope: 'admin' } as const;

const whyOperation = {
  ...common,
  summary: 'Tell why a callback did, or did not, arrive',
  answers: { 200: bare('What is known of it.', Told) },
  problems: ['nothing-known', 'unknown-account'],
} as const;
const describedBy = (how: string) =>
  `By an order number, a VIN, or the guid of anything: an event, a delivery, an order, a subscription, an account; an account also by its name. Where nothing is called exactly that, by a part of an account's name, the first eight digits of a guid (but for what events are about), or the host or the URL of subscriptions. What it is is found out; what may mean several things is listed, up to 20 of a kind. The same as \`./waybell why\`. ${how}`;

type Meaning = PagingQuery & { listeners: boolean; as?: (typeof FOUND_KINDS)[number]; kind?: string };

async function tell(
  anything: string,
  { as, kind, listeners: withListeners, ...page }: Meaning,
  { database }: OperatorLogServices,
) {
  const text = requireKey('anything', anything);
  const question = { text, as, keyKind: kind, withListeners, ...pagingOf(page) };
  const told = await askByKind(database, { key: text, kind }, (postgres) => why(postgres, question));
  if (told.kind === 'nothing') throw nothingKnown(anything, as);
  return new Replied(200, told, told.accounts);
}

function nothingKnown(text: string, as: Meaning['as']): Problem {
  if (as === 'account') return new Problem('unknown-account', `There is no account ${text}.`);
  const what = as === undefined ? 'an event, a delivery, a subscription or an account' : `of the kind "${as}"`;
  return new Problem(
    'nothing-known',
    `Nothing is known of "${text}": no event that names it has come, nor is it ${what}, or it is longer ago than LOG_RETENTION. What could hardly be read is among /v1/admin/rejected.`,
  );
}

/** Throws Refusal if an account is named that does not exist. */
async function requireKnown(postgres: Queryable, named: string | undefined): Promise<void> {
  if (named !== undefined) await findAccount(postgres, named);
}

type OfRule = typeof subscriptionsHeldBack | typeof subscriptionsSwitchedOff;

/** Subscriptions that a rule has switched off, or would, of one account or of all. */
const judgedBy = (find: OfRule) => ({
  ...common,
  query: { account, limit },
  problems: ['unknown-account'] as const,
  handle: ({ query, services: { database } }: { query: Parameters<OfRule>[1]; services: OperatorLogServices }) =>
    database.askLog(async (postgres) => {
      await requireKnown(postgres, query.account);
      const found = await find(postgres, query);
      return new Replied(200, { objects: found }, await namesOf(postgres, found));
    }),
});

export const operatorLogOperations = [
  operation({
    ...whyOperation,
    path: '/v1/admin/why',
    id: 'whyByQuery',
    description: describedBy(BY_QUERY),
    query: { anything: parameter('What is asked about.', key, { required: true }), ...oneMeaning },
    handle: ({ query: { anything = '', ...meaning }, services }) => tell(anything, meaning, services),
  }),

  operation({
    ...whyOperation,
    path: '/v1/admin/why/{anything}',
    id: 'why',
    description: describedBy(`With slashes, dots or \`%\` in it, ask \`/v1/admin/why?anything=\`.`),
    parameters: { anything: { schema: key, trait: 'parameters', read: (text: string) => text } },
    query: oneMeaning,
    handle: ({ path, query, services }) => tell(path.anything, query, services),
  }),

  operation({
    ...common,
    path: '/v1/admin/deliveries',
    id: 'listDeliveries',
    summary: 'Find deliveries of all accounts',
    description:
      'Those that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for. By `endpoint` without `account`, those of subscriptions that have ended are left out.',
    query: {
      account,
      client: parameter('Of this client alone.', ClientId),
      listeners,
      ...deliveryFilters(actionName({ examples: ['order.created'] })),
    },
    answers: { 200: bare('Deliveries.', pageOf(OperatorDelivery)) },
    problems: ['unknown-account'],
    handle({ query: { account: named, client, listeners: withListeners, ...query }, services: { database } }) {
      const filter = { ...filterOf(query), account: named?.toLowerCase(), client };
      return askByKind(database, { key: filter.about?.key, kind: query.kind }, async (postgres) => {
        await requireKnown(postgres, filter.account);
        const page = await findDeliveries(postgres, { reader: 'operator', filter, withListeners, ...pagingOf(query) });
        return new Replied(200, page, await namesOf(postgres, page.entries));
      });
    },
  }),

  operation({
    ...common,
    path: '/v1/admin/failing',
    id: 'listFailing',
    summary: 'See what fails now',
    description: 'Tests count in none of it. The same as `./waybell failing`.',
    query: {
      since: parameter('From this time on; without it, of the last hour.', moment()),
      account,
      listeners,
      limit,
    },
    answers: { 200: bare('What fails, each list by itself up to `limit`.', Failing) },
    problems: ['unknown-account'],
    handle({ query: { since: from, listeners: withListeners, ...query }, services: { database } }) {
      const since = from === undefined ? Date.now() - HOUR_MS : momentOf(from);
      const wanted = { ...query, sinceMs: since, withListeners };
      return database.askLog(async (postgres) => {
        await requireKnown(postgres, query.account);
        const origins = await failingOrigins(postgres, wanted);
        const waiting = await waitingEndpoints(postgres, wanted);
        const undelivered = await oldestUndelivered(postgres, wanted);
        const interrupted = await interruptedSubscriptions(postgres, wanted);
        const notices = await latestNotices(postgres, wanted);
        const lists = { origins, waiting, undelivered, interrupted, notices };
        const told = Object.fromEntries(Object.entries(lists).map(([name, found]) => [name, { objects: found }]));
        const names = await namesOf(postgres, [...origins, ...waiting, ...undelivered, ...interrupted]);
        return new Replied(200, { since, ...told }, names);
      });
    },
  }),

  operation({
    ...common,
    path: '/v1/admin/waiting',
    id: 'listWaiting',
    summary: 'List what waits, and why',
    description: 'What has waited longest first. The same as `./waybell waiting list`.',
    query: { account, listeners, limit },
    answers: { 200: bare('What waits, each list by itself up to `limit`.', Waiting) },
    problems: ['unknown-account'],
    handle: ({ query: { listeners: withListeners, ...query }, services: { database } }) =>
      database.askLog(async (postgres) => {
        await requireKnown(postgres, query.account);
        const endpoints = await waitingEndpoints(postgres, { ...query, withListeners });
        const destinations = await waitingDestinations(postgres, query);
        const told = { endpoints: { objects: endpoints }, destinations: { objects: destinations } };
        return new Replied(200, told, await namesOf(postgres, endpoints));
      }),
  }),

  operation({
    ...judgedBy(subscriptionsSwitchedOff),
    path: '/v1/admin/switched-off',
    id: 'listSwitchedOff',
    summary: 'List the subscriptions that are switched off now',
    description: 'The one that was switched off last comes first.',
    answers: { 200: bare('Subscriptions.', objects(SwitchedOff)) },
  }),

  operation({
    ...judgedBy(subscriptionsHeldBack),
    path: '/v1/admin/held-deactivations',
    id: 'listHeldDeactivations',
    summary: 'List the subscriptions that a rule would switch off now, and that are held',
    description:
      'So many would be at once that the fault may be ours. The one that was held first comes first. What becomes of them, `./waybell deactivations` says.',
    answers: { 200: bare('Subscriptions.', objects(HeldDeactivation)) },
  }),

  operation({
    ...common,
    tag: 'Accounts',
    path: '/v1/admin/accounts/{guid}/subscriptions',
    id: 'listSubscriptionsOfAccount',
    summary: 'List the subscriptions of an account',
    description: 'Current and ended ones, the newest first.',
    parameters: { guid: guidInPath() },
    query: { listeners, ...paging },
    answers: { 200: bare('Subscriptions.', pageOf(OperatorSubscription)) },
    problems: ['unknown-account'],
    handle({ path, query: { listeners: withListeners, ...query }, services: { database } }) {
      const page = pagingOf(query);
      return database.askLog(async (postgres) => {
        await findAccount(postgres, path.guid);
        const entries = await subscriptionsOf(postgres, { account: path.guid, withListeners }, page);
        const last = entries.length < page.limit ? undefined : entries.at(-1);
        const next = last && { at: last.createdAt, guid: last.subscription };
        return new Replied(200, { entries, next }, await namesOf(postgres, entries));
      });
    },
  }),

  operation({
    ...common,
    tag: 'Accounts',
    path: '/v1/admin/audit',
    id: 'listChanges',
    summary: 'See who changed accounts, tokens, secrets, subscriptions and stops',
    description: 'The last change first. The same as `./waybell audit`.',
    query: {
      account,
      subscription: parameter('Of this subscription alone.', guid()),
      since: parameter('From this time on.', moment()),
      limit,
    },
    answers: { 200: bare('Changes.', objects(Change)) },
    problems: ['unknown-account'],
    async handle({
      query: { account: accountGuid, subscription: subjectGuid, since, ...query },
      services: { database },
    }) {
      const from = since === undefined ? undefined : new Date(momentOf(since));
      const wanted = { accountGuid, subjectGuid, since: from, ...query };
      return { objects: await database.askLog((postgres) => readAuditLog(postgres, wanted)) };
    },
  }),
];
