import { findAccount } from '../../accounts.ts';
import type { Database } from '../../database.ts';
import { Router, type RequestHandler } from 'express';
import type { Authenticate } from '../authentication/authenticate.ts';
import { ownTokenRoutes } from '../authentication/own-token.ts';
import { byHandRoutes } from '../deliveries/by-hand.ts';
import { deliveryLogRoutes } from '../deliveries/delivery-log.ts';
import { statisticsRoutes } from '../deliveries/statistics.ts';
import type { RouteOptions } from '../http/routes.ts';
import { liveRoutes, type LiveRouteOptions } from '../live/live-routes.ts';
import { subscriptionRoutes } from '../subscriptions/subscriptions.ts';
import { admitOperator } from './admit-operator.ts';

const CLIENT = '/v1/admin/accounts/:account/clients/:client';

export type ActingOptions = Omit<RouteOptions, 'signingSecrets' | 'credentials' | 'database'> &
  Pick<LiveRouteOptions, 'knownAgainMs'> & { database: Database };

/**
 * What a client may ask and do about its deliveries and subscriptions, for operators, below the client's own address: each
 * path of the client interface, without its /v1. The same routes answer; the audit log names the operator.
 */
export function actingRoutes({ authenticate, ...options }: ActingOptions & { knowAgain: Authenticate }): Router {
  const { database, knowAgain } = options;
  const asClient =
    (admit: Authenticate): Authenticate =>
    async (request) => {
      const actor = await admitOperator(admit, request);
      const { account: guid, client: clientId } = request.res?.locals['actingFor'];
      const account = await database.askLog((postgres) => findAccount(postgres, guid));
      return {
        interface: account.interface,
        accountGuid: account.guid,
        clientId,
        features: account.features,
        scopes: ['webhooks:read', 'webhooks:write'],
        actor,
      };
    };
  const own = { ...options, authenticate: asClient(authenticate) };
  const router = Router({ caseSensitive: true });
  router.use(
    CLIENT,
    nameClient,
    ownTokenRoutes(own),
    subscriptionRoutes(own),
    deliveryLogRoutes(own),
    statisticsRoutes(own),
    byHandRoutes(own),
    liveRoutes({ ...own, knowAgain: asClient(knowAgain) }),
  );
  return router;
}

/** Notes the client of the address, and has the rest of it be the client's own path. */
const nameClient: RequestHandler<{ account: string; client: string }> = (request, response, next) => {
  response.locals['actingFor'] = request.params;
  request.url = `/v1${request.url}`;
  next();
};
