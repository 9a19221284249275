import { Router, type Request } from 'express';
import type { Subscription } from '../../tables.ts';
import type { Scope } from '../../tokens.ts';
import { requireRight, seesTokens, type Caller } from '../authentication/authenticate.ts';
import { readJson, readNothing } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { addPath, type ActionRouteOptions } from '../http/routes.ts';
import { listActions, requireFeature } from './find-action.ts';
import { readSubscribeRequest } from './subscription-requests.ts';

/** The endpoints of carrier-webhooks, and one to see a subscription. */
export function carrierRoutes({ authenticate, subscriptions, catalog, callbackRules }: ActionRouteOptions): Router {
  const router = Router({ caseSensitive: true });
  const actions = listActions('carrier', catalog);

  async function admit(request: Request, scope: Scope): Promise<Caller> {
    const caller = await authenticate(request);
    requireRight(caller, { interface: 'carrier', scope });
    return caller;
  }

  const present = (subscription: Subscription, caller: Caller) =>
    carrierView(subscription, seesTokens(caller) ? subscriptions.verificationToken(subscription) : null);

  addPath(router, ['/v1/webhooks'], {
    async get(request, response) {
      const caller = await admit(request, 'webhooks:read');
      response.json(actions.listFor(caller).map(({ name, description }) => ({ action: name, description })));
    },
  });

  addPath(router, ['/v1/webhooks/:action/subscriptions'], {
    async get(request, response) {
      const caller = await admit(request, 'webhooks:read');
      const action = actions.find(request.params.action, response);
      const current = await subscriptions.find(caller, { action: action.name });
      response.json(current === undefined ? [] : [present(current, caller)]);
    },

    async post(request, response) {
      const caller = await admit(request, 'webhooks:write');
      const action = actions.find(request.params.action, response);
      requireFeature(action, caller);
      const body = await readSubscribeRequest(await readJson(request, response), action, callbackRules);
      const subscription = await subscriptions.subscribeOnce(caller, body);
      if (subscription === undefined)
        throw alreadySubscribed(await subscriptions.find(caller, { action: action.name }));
      response.status(201).json(present(subscription, caller));
    },

    async delete(request, response) {
      const caller = await admit(request, 'webhooks:write');
      const action = actions.find(request.params.action, response);
      await readNothing(request, response);
      const ended = await subscriptions.end(caller, action.name);
      if (ended === undefined) throw new Problem('not-subscribed', `This client is not subscribed to ${action.name}.`);
      response.status(204).end();
    },
  });

  return router;
}

/** The four fields of carrier-webhooks, Subscription; the token only where the caller may see it. */
function carrierView(subscription: Subscription, token: string | null) {
  return {
    is_active: subscription.is_active,
    action: subscription.action,
    ...(token === null ? {} : { verification_token: token }),
    callback_url: subscription.callback_url,
  };
}

/** The one in the way may have gone since; then it only says less. */
function alreadySubscribed(current: Subscription | undefined): Problem {
  const on = current && `PATCH /v1/subscriptions/${current.guid} with {"is_active": true} switches it on again`;
  const state = current?.is_active === false ? `, but the subscription was deactivated: ${on}. Or` : '.';
  const detail = `This client is already subscribed to the action${state} DELETE the subscription first, then subscribe again.`;
  return new Problem('already-subscribed', detail);
}
