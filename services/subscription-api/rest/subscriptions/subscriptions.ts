import { findAction } from '@waybell/catalog/actions';
import { Router } from 'express';
import type { Subscription } from '../../tables/subscription.ts';
import { answerFor } from '../http/answer-for.ts';
import { requireScope, type Caller } from '../authentication/authenticate.ts';
import { addPath, type RouteOptions } from '../http/routes.ts';

/** All current subscriptions of a client, the same on either interface: with the guids that sending by hand asks for. */
export function subscriptionRoutes({ authenticate, subscriptions }: RouteOptions): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/subscriptions'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:read');
      answerFor(caller, response, { objects: (await subscriptions.list(caller)).map((each) => view(each, caller)) });
    },
  });

  return router;
}

function view(subscription: Subscription, { features }: Caller) {
  const { guid, action, callback_url, is_active, deactivated_at: at, deactivation_rule: rule } = subscription;
  const feature = findAction(subscription.interface, action)?.feature;
  return {
    guid,
    action,
    callback_url,
    is_active,
    created_at: subscription.created_at.toISOString(),
    changed_at: subscription.changed_at.toISOString(),
    ...(!is_active && at !== null && { deactivation: { at: at.toISOString(), rule } }),
    // What it would be sent is suppressed or dropped as `feature_off` (decisions R7).
    ...(feature !== undefined && !features.includes(feature) && { suspension: { reason: 'feature_off', feature } }),
  };
}
