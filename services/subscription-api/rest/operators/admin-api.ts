import type { Express } from 'express';
import type { Database } from '../../database.ts';
import { authenticateBearer, byAccessToken } from '../authentication/authenticate.ts';
import { operatorTokenRoutes } from '../authentication/own-token.ts';
import { consoleRoutes, type ServedConsole } from '../console/console.ts';
import { documentRoutes, type Documents } from '../documents/documents.ts';
import { createHttpApp, type HttpAppOptions } from '../http/http-app.ts';
import { actingRoutes, type ActingOptions } from './acting.ts';
import { adminRoutes } from './admin.ts';
import { operatorLineRoutes, type OperatorLineOptions } from './operator-line.ts';
import { operatorDeliveriesRoutes, operatorLogRoutes } from './operator-log.ts';
import { overviewRoutes } from './overview.ts';
import { stopRoutes } from './stops.ts';

export type AdminApiOptions = Omit<HttpAppOptions, 'authenticate' | 'overview'> &
  Omit<ActingOptions, 'authenticate'> &
  Pick<OperatorLineOptions, 'line' | 'queues' | 'eventLimits'> & {
    database: Database;
    documents: Documents;
    console: { operator: ServedConsole };
  };

/** The operators' interface, for a listener that strangers do not reach. It takes opaque tokens alone. */
export function createAdminApi({ database, ...options }: AdminApiOptions): Express {
  // A scope "admin" of an issuer of JWTs may have another meaning.
  const knows = authenticateBearer({ opaque: byAccessToken(database), jwt: undefined });
  return createHttpApp({ ...options, overview: '/admin-openapi.json', authenticate: knows }, (authenticate) => [
    operatorTokenRoutes({ authenticate }),
    adminRoutes({ authenticate, database }),
    operatorLogRoutes({ authenticate, database }),
    operatorDeliveriesRoutes({ authenticate, database }),
    actingRoutes({ ...options, authenticate, database, knowAgain: knows }),
    stopRoutes({ authenticate, database }),
    overviewRoutes({ ...options, authenticate, database }),
    operatorLineRoutes({ ...options, authenticate, database }),
    documentRoutes(options.documents),
    consoleRoutes(options.console.operator),
  ]);
}
