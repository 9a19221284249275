import { Router, type Request } from 'express';
import type { Action } from '@waybell/catalog/action';
import type { Subscription } from '../../tables.ts';
import type { Scope } from '../../tokens.ts';
import { requireRight, seesTokens, type Caller } from '../authentication/authenticate.ts';
import { readJson, readNothing } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { addPath, type ActionRouteOptions } from '../http/routes.ts';
import { listActions, requireFeature } from './find-action.ts';
import { readSubscribeRequest } from './subscription-requests.ts';

/** The endpoints of shipper-webhooks. Brokers are accounts here too. */
export function shipperRoutes({ authenticate, subscriptions, catalog, callbackRules }: ActionRouteOptions): Router {
  const router = Router({ caseSensitive: true });
  const actions = listActions('shipper', catalog);

  async function admit(request: Request, scope: Scope): Promise<Caller> {
    const caller = await authenticate(request);
    requireRight(caller, { interface: 'shipper', scope });
    return caller;
  }

  const present = (subscription: Subscription, caller: Caller) =>
    shipperView(subscription, seesTokens(caller) ? subscriptions.verificationToken(subscription) : null);

  addPath(router, ['/v1/public/webhooks/action_types', '/webhooks/action_types'], {
    async get(request, response) {
      const caller = await admit(request, 'webhooks:read');
      const objects = actions.listFor(caller).map(actionType);
      response.json({ status: 'success', data: { objects } });
    },
  });

  addPath(router, ['/v1/public/webhooks'], {
    async get(request, response) {
      const caller = await admit(request, 'webhooks:read');
      const objects = (await subscriptions.list(caller)).map((subscription) => present(subscription, caller));
      response.json({ status: 'success', data: { objects } });
    },
  });

  addPath(router, ['/v1/public/webhooks/:action/subscribe'], {
    async post(request, response) {
      const caller = await admit(request, 'webhooks:write');
      const action = actions.find(request.params.action, response);
      requireFeature(action, caller);
      const body = await readSubscribeRequest(await readJson(request, response), action, callbackRules);
      const subscription = await subscriptions.subscribeOrReplace(caller, body);
      response.json({ status: 'success', data: { object: present(subscription, caller) } });
    },
  });

  addPath(router, ['/v1/public/webhooks/:action/unsubscribe'], {
    async post(request, response) {
      const caller = await admit(request, 'webhooks:write');
      const action = actions.find(request.params.action, response);
      await readNothing(request, response);
      const ended = await subscriptions.end(caller, action.name);
      if (ended === undefined) throw new Problem('not-subscribed', `This client is not subscribed to ${action.name}.`);
      response.json({ status: 'success', data: { object: present(ended, caller) } });
    },
  });

  return router;
}

function actionType({ name, description, auditFields }: Action) {
  return { action: name, description, ...(auditFields === undefined ? {} : { audit_fields: auditFields }) };
}

/** The fields of shipper-webhooks, Subscription, in its order; the token only where the caller may see it. */
function shipperView(subscription: Subscription, token: string | null) {
  return {
    is_active: subscription.is_active,
    created_at: timestamp(subscription.created_at),
    changed_at: timestamp(subscription.changed_at),
    action: subscription.action,
    ...(token === null ? {} : { verification_token: token }),
    callback_url: subscription.callback_url,
    guid: subscription.guid,
    ...(subscription.audit_field_set === null ? {} : { audit_field_set: subscription.audit_field_set }),
  };
}

/** `2026-11-20T09:30:00.123+0000` (shipper-webhooks, Resources and their fields). */
function timestamp(date: Date): string {
  return date.toISOString().replace('Z', '+0000');
}
