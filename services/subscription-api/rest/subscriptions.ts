import { Router } from 'express';
import type { Subscription } from '../tables/subscription.ts';
import { answerFor } from './answer-for.ts';
import { requireScope } from './authenticate.ts';
import { addPath, type RouteOptions } from './routes.ts';

/** All current subscriptions of a client, the same on either interface: with the guids that sending by hand asks for. */
export function subscriptionRoutes({ authenticate, subscriptions }: RouteOptions): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/subscriptions'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:read');
      answerFor(caller, response, { objects: (await subscriptions.list(caller)).map(view) });
    },
  });

  return router;
}

function view(subscription: Subscription) {
  const { guid, action, callback_url, is_active, deactivated_at: at, deactivation_rule: rule } = subscription;
  return {
    guid,
    action,
    callback_url,
    is_active,
    created_at: subscription.created_at.toISOString(),
    changed_at: subscription.changed_at.toISOString(),
    ...(!is_active && at !== null && { deactivation: { at: at.toISOString(), rule } }),
  };
}
