import { Router, type RequestHandler } from 'express';
import type { Database } from '../../database.ts';
import type { Authenticate } from '../authentication/authenticate.ts';
import { byHandRoutes } from '../deliveries/by-hand.ts';
import { deliveryLogRoutes } from '../deliveries/delivery-log.ts';
import { missedRoutes } from '../deliveries/missed.ts';
import { statisticsRoutes } from '../deliveries/statistics.ts';
import type { RouteOptions } from '../http/routes.ts';
import { inPlaceOfClient } from '../../operations/acting.ts';
import { liveRoutes, type LiveRouteOptions } from '../live/live-routes.ts';

const CLIENT = '/v1/admin/accounts/:account/clients/:client';

export type ActingOptions = Omit<RouteOptions, 'signingSecrets' | 'credentials' | 'database'> &
  Pick<LiveRouteOptions, 'knownAgainMs'> & { database: Database };

type ActingRouteOptions = ActingOptions & { knowAgain: Authenticate };

/** Routes of areas that are no operations yet. */
export function actingRoutes({ authenticate, knowAgain, ...options }: ActingRouteOptions): Router {
  const forClient = inPlaceOfClient(options.database);
  const routes = { ...options, authenticate: forClient(authenticate) };
  const router = Router({ caseSensitive: true });
  router.use(
    CLIENT,
    nameClient,
    deliveryLogRoutes(routes),
    statisticsRoutes(routes),
    byHandRoutes(routes),
    missedRoutes(routes),
    liveRoutes({ ...routes, knowAgain: forClient(knowAgain) }),
  );
  return router;
}

type ClientInPath = { account: string; client: string };

/** Notes the client of the address, and makes the rest of it the client's path. */
const nameClient: RequestHandler<ClientInPath> = (request, response, next) => {
  response.locals['actingFor'] = request.params;
  // Metrics distinguish operators' requests from those of clients.
  response.locals['routeOf'] = (route: string) => route.replace('/v1', CLIENT);
  // A URL that names its host, as proxies may send it, goes on naming it.
  request.url = request.url.replace(/^(https?:\/\/[^/]*)?/i, '$1/v1');
  next();
};
