import type { Express } from 'express';
import type { Interface } from '@waybell/catalog/action';
import { listAllActions } from '../operations/find-action.ts';
import { serveOperations } from '../operations/serve-operations.ts';
import { clientOperations } from '../operations/tables.ts';
import { consoleSessionRoutes, ownTokenRoutes } from './authentication/own-token.ts';
import { consoleRoutes, type ServedConsole } from './console/console.ts';
import { credentialsRoutes } from './credentials/credentials.ts';
import { signingSecretRoutes } from './credentials/signing-secrets.ts';
import { byHandRoutes } from './deliveries/by-hand.ts';
import { countHours } from './deliveries/count-hours.ts';
import { documentRoutes, type Documents } from './documents/documents.ts';
import { createHttpApp, type HttpAppOptions } from './http/http-app.ts';
import type { RouteOptions } from './http/routes.ts';
import { listenerRoutes, type ListenerRouteOptions } from './listeners/listeners.ts';
import type { KnowingAgain } from './live/event-stream.ts';
import { triggerRoutes, type TriggerOptions } from './triggers/triggers.ts';

export type ApiOptions = RouteOptions &
  Omit<HttpAppOptions, 'overview'> &
  Pick<KnowingAgain, 'knownAgainMs'> &
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
  // A stream's reader is authenticated again every minute, which counts as no request.
  const knowAgain = options.authenticate;
  const services = { ...options, knowAgain, countHours: countHours(), actionsOf: listAllActions(catalog) };
  return createHttpApp({ ...options, overview: '/docs' }, (authenticate) => [
    serveOperations(clientOperations(interfacesOf(options.interfaces)), { authenticate, catalog, services }),
    ownTokenRoutes({ authenticate }),
    signingSecretRoutes({ ...options, authenticate }),
    credentialsRoutes({ ...options, authenticate }),
    byHandRoutes({ ...options, authenticate }),
    triggerRoutes({ ...options, authenticate }),
    listenerRoutes({ ...options, authenticate, knowAgain }),
    documentRoutes(options.documents),
    consoleSessionRoutes(options),
    consoleRoutes(options.console.client),
  ]);
}
