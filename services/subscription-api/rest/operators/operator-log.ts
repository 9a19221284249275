/** The delivery log for operators: why something was sent or not, failing and waiting deliveries, subscriptions and changes. */
import { Router } from 'express';
import { adminSchemas } from '../../operations/admin-document.ts';
import {
  auditParameters,
  failingParameters,
  subscriptionsParameters,
  switchedOffParameters,
  waitingParameters,
  anythingInQuery,
  whyParameters,
  operatorDeliveryParameters,
} from '../../operations/admin-log-paths.ts';
import { accountsOf } from '@waybell/delivery-log/read/accounts';
import type { SearchMatch } from '@waybell/delivery-log/read/find-anything';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { subscriptionsOf } from '@waybell/delivery-log/read/subscriptions';
import { momentOf } from '@waybell/events/timestamp';
import type { Queryable } from '@waybell/runtime/postgres';
import { findAccount } from '../../accounts.ts';
import { readAuditLog } from '../../audit-log.ts';
import type { Database } from '../../database.ts';
import { failingOrigins, oldestUndelivered } from '../../failing.ts';
import {
  interruptedSubscriptions,
  latestNotices,
  subscriptionsHeldBack,
  subscriptionsSwitchedOff,
} from '../../interrupted.ts';
import { waitingDestinations, waitingEndpoints } from '../../waiting-rooms.ts';
import { why } from '../../why.ts';
import { admitOperator, type Authenticate } from '../authentication/authenticate.ts';
import { askByKind, filterOf, type FilterQuery } from '../deliveries/delivery-filter.ts';
import { Problem } from '../http/problem.ts';
import { pageView, pagingOf, queryReader, requirePathGuid, requireKey, type PagingQuery } from '../http/read-query.ts';
import { addPath } from '../http/routes.ts';
import { changeView, destinationView, operatorViews, answerView } from './operator-views.ts';

type Limited = { limit: number };
type OfAccount = { account?: string };
type OfListeners = { listeners?: boolean };

type WhyQuery = PagingQuery & OfListeners & { as?: SearchMatch['kind']; kind?: string };

const readWhy = queryReader<WhyQuery>(whyParameters);
const readAnything = queryReader<WhyQuery & { anything?: string }>([anythingInQuery, ...whyParameters]);
const readFailing = queryReader<Limited & OfAccount & OfListeners & { since?: string }>(
  failingParameters,
  adminSchemas,
);
const readWaiting = queryReader<Limited & OfAccount & OfListeners>(waitingParameters, adminSchemas);
const readSwitchedOff = queryReader<Limited & OfAccount>(switchedOffParameters, adminSchemas);
const readAudit = queryReader<Limited & OfAccount & { subscription?: string; since?: string }>(
  auditParameters,
  adminSchemas,
);
const readSubscriptions = queryReader<PagingQuery & OfListeners>(subscriptionsParameters);

const readDeliveries = queryReader<FilterQuery & { account?: string; client?: string; listeners?: boolean }>(
  operatorDeliveryParameters,
  adminSchemas,
);

const HOUR_MS = 3_600_000;

type OperatorLogOptions = { authenticate: Authenticate; database: Pick<Database, 'askLog'> };

/** The same as `./waybell why`, `failing`, `waiting list` and `audit`, by the same functions. */
export function operatorLogRoutes({ authenticate, database }: OperatorLogOptions): Router {
  const router = Router({ caseSensitive: true });
  addWhy(router, { authenticate, database });
  addFailing(router, { authenticate, database });
  addSwitchedOff(router, { authenticate, database });
  addOfAccounts(router, { authenticate, database });
  return router;
}

/** Deliveries of all accounts, by the functions that find a client's. */
export function operatorDeliveriesRoutes({ authenticate, database }: OperatorLogOptions): Router {
  const router = Router({ caseSensitive: true });
  addPath(router, ['/v1/admin/deliveries'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const { account, client, listeners: withListeners, ...query } = readDeliveries(request);
      const filter = { ...filterOf(query), account: account?.toLowerCase(), client };
      const named = { key: filter.about?.key, kind: query.kind };
      const answer = await askByKind(database, named, async (postgres) => {
        await requireKnown(postgres, filter.account);
        const page = await findDeliveries(postgres, { reader: 'operator', filter, withListeners, ...pagingOf(query) });
        return pageView(page, (await viewsOf(postgres, page.entries)).delivery);
      });
      response.json(answer);
    },
  });
  return router;
}

/** Routes that explain events and deliveries. */
function addWhy(router: Router, { authenticate, database }: OperatorLogOptions): void {
  const answerOf = async (anything: string, { as, kind: keyKind, listeners: withListeners, ...query }: WhyQuery) => {
    const text = requireKey('anything', anything);
    const question = { text, as, keyKind, withListeners, ...pagingOf(query) };
    const named = { key: text, kind: keyKind };
    const answer = await askByKind(database, named, (postgres) => why(postgres, question));
    if (answer.kind === 'nothing') throw nothingKnown(anything, as);
    return answerView(answer);
  };

  addPath(router, ['/v1/admin/why'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const { anything = '', ...query } = readAnything(request);
      response.json(await answerOf(anything, query));
    },
  });

  addPath<{ anything: string }>(router, ['/v1/admin/why/:anything'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      response.json(await answerOf(request.params.anything, readWhy(request)));
    },
  });
}

/** Routes for failing and waiting deliveries. */
function addFailing(router: Router, { authenticate, database }: OperatorLogOptions): void {
  addPath(router, ['/v1/admin/failing'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const { since, account, listeners: withListeners, limit } = readFailing(request);
      const sinceMs = since === undefined ? Date.now() - HOUR_MS : momentOf(since);
      const asked = { sinceMs, account, withListeners, limit };
      const failing = await database.askLog(async (postgres) => {
        await requireKnown(postgres, account);
        const origins = await failingOrigins(postgres, asked);
        const waiting = await waitingEndpoints(postgres, asked);
        const undelivered = await oldestUndelivered(postgres, asked);
        const interrupted = await interruptedSubscriptions(postgres, asked);
        const notices = await latestNotices(postgres, asked);
        const views = await viewsOf(postgres, [...origins, ...waiting, ...undelivered, ...interrupted]);
        return {
          origins: { objects: origins.map(views.origin) },
          waiting: { objects: waiting.map(views.endpoint) },
          undelivered: { objects: undelivered.map(views.undelivered) },
          interrupted: { objects: interrupted.map(views.interrupted) },
          notices: { objects: notices },
        };
      });
      response.json({ since: new Date(sinceMs).toISOString(), ...failing });
    },
  });

  addPath(router, ['/v1/admin/waiting'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const { listeners: withListeners, ...query } = readWaiting(request);
      const asked = { withListeners, ...query };
      const waiting = await database.askLog(async (postgres) => {
        await requireKnown(postgres, asked.account);
        const endpoints = await waitingEndpoints(postgres, asked);
        const destinations = await waitingDestinations(postgres, asked);
        return {
          endpoints: { objects: endpoints.map((await viewsOf(postgres, endpoints)).endpoint) },
          destinations: { objects: destinations.map(destinationView) },
        };
      });
      response.json(waiting);
    },
  });
}

/** Routes for subscriptions that are switched off, or would be, of one account or of all. */
function addSwitchedOff(router: Router, { authenticate, database }: OperatorLogOptions): void {
  addPath(router, ['/v1/admin/held-deactivations'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const asked = readSwitchedOff(request);
      const objects = await database.askLog(async (postgres) => {
        await requireKnown(postgres, asked.account);
        const entries = await subscriptionsHeldBack(postgres, asked);
        return entries.map((await viewsOf(postgres, entries)).judged);
      });
      response.json({ objects });
    },
  });
  addPath(router, ['/v1/admin/switched-off'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const asked = readSwitchedOff(request);
      const objects = await database.askLog(async (postgres) => {
        await requireKnown(postgres, asked.account);
        const entries = await subscriptionsSwitchedOff(postgres, asked);
        return entries.map((await viewsOf(postgres, entries)).judged);
      });
      response.json({ objects });
    },
  });
}

/** Routes for an account's subscriptions and changes. */
function addOfAccounts(router: Router, { authenticate, database }: OperatorLogOptions): void {
  addPath<{ guid: string }>(router, ['/v1/admin/accounts/:guid/subscriptions'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const account = requirePathGuid('guid', request.params.guid);
      const { listeners: withListeners, ...query } = readSubscriptions(request);
      const paging = pagingOf(query);
      const page = await database.askLog(async (postgres) => {
        await findAccount(postgres, account);
        const entries = await subscriptionsOf(postgres, { account, withListeners }, paging);
        const last = entries.length < paging.limit ? undefined : entries.at(-1);
        const next = last && { at: last.createdAt, guid: last.subscription };
        const views = await viewsOf(postgres, entries);
        return pageView({ entries, ...(next && { next }) }, views.subscription);
      });
      response.json(page);
    },
  });

  addPath(router, ['/v1/admin/audit'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const { account: accountGuid, subscription: subjectGuid, since, limit } = readAudit(request);
      const from = since === undefined ? undefined : new Date(momentOf(since));
      const selection = { accountGuid, subjectGuid, since: from, limit };
      const notes = await database.askLog((postgres) => readAuditLog(postgres, selection));
      response.json({ objects: notes.map(changeView) });
    },
  });
}

/** Throws Refusal if an account is named that does not exist. */
async function requireKnown(postgres: Queryable, account: string | undefined): Promise<void> {
  if (account !== undefined) await findAccount(postgres, account);
}

/** Views with the names of the accounts of these. */
export async function viewsOf(postgres: Queryable, entries: readonly { account: string }[]) {
  return operatorViews(
    await accountsOf(
      postgres,
      entries.map(({ account }) => account),
    ),
  );
}

function nothingKnown(text: string, as: SearchMatch['kind'] | undefined): Problem {
  if (as === 'account') return new Problem('unknown-account', `There is no account ${text}.`);
  const what = as === undefined ? 'an event, a delivery, a subscription or an account' : `of the kind "${as}"`;
  return new Problem(
    'nothing-known',
    `Nothing is known of "${text}": no event that names it has come, nor is it ${what}, or it is longer ago than LOG_RETENTION. What could hardly be read is among /v1/admin/rejected.`,
  );
}
