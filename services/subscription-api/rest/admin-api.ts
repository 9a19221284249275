import type { Express } from 'express';
import type { Database } from '../database.ts';
import { inPlaceOfClient } from '../operations/acting.ts';
import { listAllActions } from '../operations/find-action.ts';
import { lastHourOf } from '../operations/overview.ts';
import { serveOperations } from '../operations/serve-operations.ts';
import type { ActingServices, OperatorServices } from '../operations/services.ts';
import { actingOperations, operatorOperations } from '../operations/tables.ts';
import { authenticateBearer, byAccessToken } from './authentication/authenticate.ts';
import { consoleRoutes, type ServedConsole } from './console/console.ts';
import { countHours } from './deliveries/count-hours.ts';
import { createHttpApp, type HttpAppOptions } from './http/http-app.ts';

export type AdminApiOptions = Omit<HttpAppOptions, 'authenticate' | 'overview'> &
  Omit<ActingServices, 'actionsOf' | 'countHours' | 'knowAgain'> &
  OperatorServices & {
    database: Database;
    console: { operator: ServedConsole };
  };

/** The operators' interface, for a listener that strangers do not reach. It takes opaque tokens alone. */
export function createAdminApi(options: AdminApiOptions): Express {
  const { catalog, database } = options;
  // A scope "admin" of an issuer of JWTs may have another meaning.
  const knows = authenticateBearer({ opaque: byAccessToken(database), jwt: undefined });
  const forClient = inPlaceOfClient(database);
  const services = {
    ...options,
    knowAgain: forClient(knows),
    countHours: countHours(),
    actionsOf: listAllActions(catalog),
    lastHour: lastHourOf(database),
  };
  return createHttpApp({ ...options, overview: '/admin-openapi.json', authenticate: knows }, (authenticate) => [
    serveOperations(operatorOperations, { authenticate, catalog, services }),
    serveOperations(actingOperations, { authenticate: forClient(authenticate), catalog, services }),
    consoleRoutes(options.console.operator),
  ]);
}
