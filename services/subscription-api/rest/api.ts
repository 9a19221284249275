import type { Express } from 'express';
import type { Interface } from '@waybell/catalog/action';
import { urlsForHosts } from '../operations/credentials.ts';
import { listAllActions } from '../operations/find-action.ts';
import { serveOperations } from '../operations/serve-operations.ts';
import type { ClientServices } from '../operations/services.ts';
import { clientOperations } from '../operations/tables.ts';
import { consoleRoutes, type ServedConsole } from './console/console.ts';
import { countHours } from './deliveries/count-hours.ts';
import { createHttpApp, type HttpAppOptions } from './http/http-app.ts';
import { limitFailures } from './http/limits.ts';

/** Services that each listener makes for itself. */
type OwnServices = 'actionsOf' | 'countHours' | 'failures' | 'knowAgain';

export type ApiOptions = Omit<ClientServices, OwnServices> &
  Omit<HttpAppOptions, 'overview'> & { interfaces: readonly string[]; console: { client: ServedConsole } };

/** The interfaces among these names. */
export const interfacesOf = (names: readonly string[]): Interface[] =>
  (['shipper', 'carrier'] as const).filter((name) => names.includes(name));

/** The REST interface: both interfaces' endpoints, or those of the ones named. */
export function createApi(options: ApiOptions): Express {
  const { catalog } = options;
  const services = {
    ...options,
    // A stream's reader is authenticated again every minute, which counts as no request.
    knowAgain: options.authenticate,
    countHours: countHours(),
    actionsOf: listAllActions(catalog),
    failures: limitFailures({ ...options, ...options.limits }),
  };
  return createHttpApp({ ...options, overview: '/docs' }, (authenticate) => [
    serveOperations(clientOperations(interfacesOf(options.interfaces)), { authenticate, catalog, services }),
    urlsForHosts(),
    consoleRoutes(options.console.client),
  ]);
}
