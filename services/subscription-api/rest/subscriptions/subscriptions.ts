import { Router, type Request, type Response } from 'express';
import type { Action } from '@waybell/catalog/action';
import { findAction } from '@waybell/catalog/actions';
import { NOTE_EMPTY } from '../../by-hand/missed.ts';
import { countMissed } from '../../by-hand/replays.ts';
import type { ShownSubscription } from '../../subscriptions.ts';
import type { Scope } from '../../tokens.ts';
import { requireScope, seesTokens, type Caller } from '../authentication/authenticate.ts';
import { clientOf } from '../deliveries/by-hand.ts';
import { readJson, readNothing, readOptionalJson } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { readNoQuery, requirePathGuid } from '../http/read-query.ts';
import { answerFor, answerObject, addPath, type GuidParams, type RouteOptions } from '../http/routes.ts';
import { listAllActions } from './find-action.ts';
import { readChange, readUntil, readPutRequest } from './subscription-requests.ts';

type SubscriptionRouteOptions = Pick<
  RouteOptions,
  'authenticate' | 'subscriptions' | 'database' | 'catalog' | 'callbackRules' | 'maxAgeMs'
>;

/** The current subscriptions of a client, the same on either interface. */
export function subscriptionRoutes(options: SubscriptionRouteOptions): Router {
  const router = Router({ caseSensitive: true });
  addMany(router, options);
  addOne(router, options);
  addPauses(router, options);
  return router;
}

function addMany(
  router: Router,
  { authenticate, subscriptions, database, catalog, callbackRules: rules }: SubscriptionRouteOptions,
): void {
  const actionsOf = listAllActions(catalog);
  addPath(router, ['/v1/subscriptions'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:read');
      const listed = await lacking(database, caller, await subscriptions.list(caller));
      const objects = listed.map((each) => subscriptionView(each, caller));
      answerFor(caller, response, { objects });
    },

    async put(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:write');
      const body = await readJson(request, response);
      const wanted = await readPutRequest(body, { actions: actionsOf[caller.interface], caller, response, rules });
      const put = await subscriptions.put(caller, wanted.wanted, wanted);
      const done = put.map(({ result, subscription }) => {
        const token = seesTokens(caller) ? subscriptions.verificationToken(subscription) : undefined;
        return { action: subscription.action, result, subscription: subscriptionView(subscription, caller, token) };
      });
      const refused = wanted.refused.map(({ action, problem }) => {
        return { action, result: 'refused', problem: problem.toBody(String(response.locals['requestId'])) };
      });
      const objects = [...done, ...refused].toSorted((one, other) => (one.action < other.action ? -1 : 1));
      answerFor(caller, response, { objects });
    },
  });
}

function addOne(router: Router, options: SubscriptionRouteOptions): void {
  const { subscriptions, database, callbackRules } = options;
  addPath<GuidParams>(router, ['/v1/subscriptions/:guid'], {
    async get(request, response) {
      const { caller, guid } = await admit(request, options, 'webhooks:read');
      readNoQuery(request);
      const found = required(await subscriptions.find(caller, { guid }));
      answer(options, response, { caller, found: (await lacking(database, caller, [found]))[0] });
    },

    async patch(request, response) {
      const { caller, guid } = await admit(request, options, 'webhooks:write');
      const body = await readJson(request, response);
      const current = required(await subscriptions.find(caller, { guid }));
      const change = await readChange(body, actionOf(current), callbackRules);
      const found = required(await subscriptions.change(caller, guid, change));
      answer(options, response, { caller, found: (await withCounts(database, caller, [found]))[0] });
    },
  });
}

function addPauses(router: Router, options: SubscriptionRouteOptions): void {
  const { subscriptions, maxAgeMs } = options;
  addPath<GuidParams>(router, ['/v1/subscriptions/:guid/pause'], {
    async post(request, response) {
      const { caller, guid } = await admit(request, options, 'webhooks:write');
      const until = readUntil(await readOptionalJson(request, response), { maxAgeMs, now: Date.now() });
      answer(options, response, { caller, found: requireOn(await subscriptions.pause(caller, guid, until)) });
    },
  });

  addPath<GuidParams>(router, ['/v1/subscriptions/:guid/resume'], {
    async post(request, response) {
      const { caller, guid } = await admit(request, options, 'webhooks:write');
      await readNothing(request, response);
      answer(options, response, { caller, found: requireOn(await subscriptions.pause(caller, guid, null)) });
    },
  });
}

async function admit(request: Request<GuidParams>, { authenticate }: Pick<RouteOptions, 'authenticate'>, scope: Scope) {
  const caller = await authenticate(request);
  requireScope(caller, scope);
  return { caller, guid: requirePathGuid('guid', request.params.guid) };
}

type SubscriptionDatabase = SubscriptionRouteOptions['database'];

/** Adds to each how much it lacks of what it noted as missed. */
function withCounts(
  database: SubscriptionDatabase,
  caller: Caller,
  all: readonly ShownSubscription[],
): Promise<ShownSubscription[]> {
  return database.askLog(async (postgres) => {
    const counted: ShownSubscription[] = [];
    for (const each of all) {
      const { missed, action } = each;
      if (missed === null) counted.push(each);
      else {
        const count = await countMissed(postgres, { ...missed, actions: [action], client: clientOf(caller) });
        counted.push({ ...each, missed: { ...missed, count } });
      }
    }
    return counted;
  });
}

/** As `withCounts`; but a subscription that lacks nothing, and whose period is over, has missed nothing: that is noted. */
async function lacking(
  database: SubscriptionDatabase,
  caller: Caller,
  all: readonly ShownSubscription[],
): Promise<readonly ShownSubscription[]> {
  if (all.every(({ missed }) => missed === null)) return all;
  const counted = await withCounts(database, caller, all);
  const empty = counted.filter(({ missed }) => missed?.isOver === true && missed.count === 0);
  const guids = empty.map(({ guid }) => guid);
  if (guids.length > 0) await database.change(caller.actor, (postgres) => postgres.query(NOTE_EMPTY, [guids]));
  return counted.map((each) => (empty.includes(each) ? { ...each, missed: null } : each));
}

type AnsweredSubscription = { caller: Caller; found: ShownSubscription | undefined };

/** With the verification token, where the caller may see it. */
function answer(
  { subscriptions }: SubscriptionRouteOptions,
  response: Response,
  { caller, found }: AnsweredSubscription,
): void {
  const subscription = required(found);
  const token = seesTokens(caller) ? subscriptions.verificationToken(subscription) : undefined;
  answerObject(caller, response, subscriptionView(subscription, caller, token));
}

/** Throws a Problem (404). */
function required(found: ShownSubscription | undefined): ShownSubscription {
  if (found !== undefined) return found;
  throw new Problem('not-subscribed', 'There is none of this guid that belongs to this client.');
}

/** Throws a Problem (409) where it is switched off. */
function requireOn(found: ShownSubscription | undefined): ShownSubscription {
  const subscription = required(found);
  if (subscription.is_active) return subscription;
  const how = 'switch it on with PATCH and {"is_active": true}';
  throw new Problem('switched-off', `It is switched off, so nothing waits for it: ${how}.`);
}

function actionOf({ interface: interfaceName, action: name }: ShownSubscription): Action {
  const action = findAction(interfaceName, name);
  if (action === undefined) throw new Error(`a subscription to ${interfaceName}.${name}, which there is not`);
  return action;
}

/** A subscription as its client sees it, on either interface; the verification token where it is given. */
function subscriptionView(subscription: ShownSubscription, { features }: Pick<Caller, 'features'>, token?: string) {
  const { guid, action, callback_url, audit_field_set, is_active, stop, missed } = subscription;
  const { deactivated_at: offAt, paused_until: pausedUntil } = subscription;
  const feature = findAction(subscription.interface, action)?.feature;
  return {
    guid,
    action,
    callback_url,
    ...(audit_field_set !== null && { audit_field_set }),
    ...(token !== undefined && { verification_token: token }),
    is_active,
    created_at: subscription.created_at.toISOString(),
    changed_at: subscription.changed_at.toISOString(),
    ...(!is_active &&
      offAt !== null && { deactivation: { at: offAt.toISOString(), rule: subscription.deactivation_rule } }),
    // Its deliveries are suppressed or dropped as `feature_off`.
    ...(feature !== undefined && !features.includes(feature) && { suspension: { reason: 'feature_off', feature } }),
    ...(pausedUntil !== null && pausedUntil.getTime() > Date.now() && { paused_until: pausedUntil.toISOString() }),
    ...(stop !== null && { stopped: { at: new Date(stop.at).toISOString(), reason: stop.reason } }),
    ...(missed !== null && {
      missed: {
        since: new Date(missed.offMs).toISOString(),
        until: new Date(missed.onMs).toISOString(),
        ...(missed.count !== undefined && { count: missed.count }),
      },
    }),
  };
}
