import type { Express } from 'express';
import { inPlaceOfClient } from '../../operations/acting.ts';
import { listAllActions } from '../../operations/find-action.ts';
import { lastHourOf } from '../../operations/overview.ts';
import { serveOperations } from '../../operations/serve-operations.ts';
import type { OperatorServices } from '../../operations/services.ts';
import { actingOperations, operatorOperations } from '../../operations/tables.ts';
import { authenticateBearer, byAccessToken } from '../authentication/authenticate.ts';
import { consoleRoutes, type ServedConsole } from '../console/console.ts';
import { documentRoutes, type Documents } from '../documents/documents.ts';
import { createHttpApp, type HttpAppOptions } from '../http/http-app.ts';
import { actingRoutes, type ActingOptions } from './acting.ts';

export type AdminApiOptions = Omit<HttpAppOptions, 'authenticate' | 'overview'> &
  Omit<ActingOptions, 'authenticate'> &
  Pick<OperatorServices, 'line' | 'queues' | 'eventLimits'> & {
    documents: Documents;
    console: { operator: ServedConsole };
  };

/** The operators' interface, for a listener that strangers do not reach. It takes opaque tokens alone. */
export function createAdminApi({ database, ...options }: AdminApiOptions): Express {
  const { catalog } = options;
  // A scope "admin" of an issuer of JWTs may have another meaning.
  const knows = authenticateBearer({ opaque: byAccessToken(database), jwt: undefined });
  const services = { ...options, database, actionsOf: listAllActions(catalog), lastHour: lastHourOf(database) };
  const forClient = inPlaceOfClient(database);
  return createHttpApp({ ...options, overview: '/admin-openapi.json', authenticate: knows }, (authenticate) => [
    serveOperations(operatorOperations, { authenticate, catalog, services }),
    serveOperations(actingOperations, { authenticate: forClient(authenticate), catalog, services }),
    actingRoutes({ ...options, authenticate, database, knowAgain: knows }),
    documentRoutes(options.documents),
    consoleRoutes(options.console.operator),
  ]);
}
