import type { Express } from 'express';
import type { Interface } from '@waybell/catalog/action';
import { listAllActions } from '../operations/find-action.ts';
import { serveOperations } from '../operations/serve-operations.ts';
import { clientOperations } from '../operations/tables.ts';
import { consoleRoutes, type ServedConsole } from './console/console.ts';
import { credentialsRoutes } from './credentials/credentials.ts';
import { signingSecretRoutes } from './credentials/signing-secrets.ts';
import { byHandRoutes } from './deliveries/by-hand.ts';
import { deliveryLogRoutes } from './deliveries/delivery-log.ts';
import { missedRoutes } from './deliveries/missed.ts';
import { statisticsRoutes } from './deliveries/statistics.ts';
import { documentRoutes, type Documents } from './documents/documents.ts';
import { createHttpApp, type HttpAppOptions } from './http/http-app.ts';
import { limitFailures } from './http/limits.ts';
import type { RouteOptions } from './http/routes.ts';
import { listenerRoutes, type ListenerRouteOptions } from './listeners/listeners.ts';
import { liveRoutes, type LiveRouteOptions } from './live/live-routes.ts';
import { triggerRoutes, type TriggerOptions } from './triggers/triggers.ts';

export type ApiOptions = RouteOptions &
  Omit<HttpAppOptions, 'overview'> &
  Pick<LiveRouteOptions, 'knownAgainMs'> &
  Pick<TriggerOptions, 'eventLimits'> &
  Pick<ListenerRouteOptions, 'listenerSettings'> & {
    interfaces: readonly string[];
    documents: Documents;
    console: { client: ServedConsole };
  };

/** The interfaces among these names. */
export const interfacesOf = (names: readonly string[]): Interface[] =>
  (['shipper', 'carrier'] as const).filter((name) => names.includes(name));

/** The REST interface: both interfaces' endpoints, or those of the ones named. */
export function createApi(options: ApiOptions): Express {
  const { catalog } = options;
  const failures = limitFailures({ ...options, ...options.limits });
  const services = { ...options, actionsOf: listAllActions(catalog), failures };
  return createHttpApp({ ...options, overview: '/docs' }, (authenticate) => [
    serveOperations(clientOperations(interfacesOf(options.interfaces)), { authenticate, catalog, services }),
    signingSecretRoutes({ ...options, authenticate }),
    credentialsRoutes({ ...options, authenticate }),
    deliveryLogRoutes({ ...options, authenticate }),
    statisticsRoutes({ ...options, authenticate }),
    byHandRoutes({ ...options, authenticate }),
    missedRoutes({ ...options, authenticate }),
    triggerRoutes({ ...options, authenticate }),
    // A stream's reader is authenticated again every minute, which counts as no request.
    liveRoutes({ ...options, authenticate, knowAgain: options.authenticate }),
    listenerRoutes({ ...options, authenticate, knowAgain: options.authenticate }),
    documentRoutes(options.documents),
    consoleRoutes(options.console.client),
  ]);
}
