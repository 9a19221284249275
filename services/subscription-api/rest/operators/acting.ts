import { Router, type Request, type RequestHandler } from 'express';
import { closedAccount, findAccount, clientsOf } from '../../accounts.ts';
import type { Database } from '../../database.ts';
import { Refusal } from '../../refusal.ts';
import { admitOperator, type Authenticate } from '../authentication/authenticate.ts';
import { ownTokenRoutes } from '../authentication/own-token.ts';
import { countHours } from '../deliveries/count-hours.ts';
import { readNoQuery, requirePathGuid } from '../http/read-query.ts';
import { addPath, type GuidParams, type RouteOptions } from '../http/routes.ts';
import type { KnowingAgain } from '../live/event-stream.ts';
import { listAllActions } from '../../operations/find-action.ts';
import { serveOperations } from '../../operations/serve-operations.ts';
import { actingOperations } from '../../operations/tables.ts';

const CLIENT = '/v1/admin/accounts/:account/clients/:client';

export type ActingOptions = Omit<RouteOptions, 'signingSecrets' | 'credentials' | 'database'> &
  Pick<KnowingAgain, 'knownAgainMs'> & { database: Database };

type ActingRouteOptions = ActingOptions & { knowAgain: Authenticate };

/**
 * Operators' access to a client's deliveries and subscriptions, below the client's path: each path of the client interface,
 * without its /v1. Its routes answer as for clients, without verification tokens; the audit log names the operator. Excludes the client's
 * secrets (signing secrets, credentials) and its experiments (listeners, triggers).
 */
export function actingRoutes({ authenticate, knowAgain, ...options }: ActingRouteOptions): Router {
  const forClient = actFor(options.database);
  const routes = { ...options, authenticate: forClient(authenticate) };
  const router = Router({ caseSensitive: true });
  addClients(router, { ...options, authenticate });
  router.use(
    CLIENT,
    nameClient,
    ownTokenRoutes(routes),
    serveOperations(actingOperations, {
      ...routes,
      services: {
        ...routes,
        knowAgain: forClient(knowAgain),
        countHours: countHours(),
        actionsOf: listAllActions(routes.catalog),
      },
    }),
  );
  return router;
}

function addClients(
  router: Router,
  { authenticate, database }: Pick<ActingOptions, 'authenticate' | 'database'>,
): void {
  addPath<GuidParams>(router, ['/v1/admin/accounts/:guid/clients'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const guid = requirePathGuid('guid', request.params.guid);
      readNoQuery(request);
      const objects = await database.askLog(async (postgres) => {
        await findAccount(postgres, guid);
        return clientsOf(postgres, guid);
      });
      response.json({ objects });
    },
  });
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

/** Admits an operator in the place of the client that the address names. Throws Refusal where there is no such one. */
function actFor(database: Database): (admit: Authenticate) => Authenticate {
  return (admit) => async (request) => {
    const actor = await admitOperator(admit, request);
    const { account: named, client } = actedFor(request);
    const guid = requirePathGuid('account', named);
    const { account, clientId } = await database.askLog(async (postgres) => {
      const found = await findAccount(postgres, guid);
      return { account: found, clientId: knownClient(client, await clientsOf(postgres, guid)) };
    });
    if (account.closed_at !== null && !['GET', 'HEAD'].includes(request.method)) throw closedAccount(account.guid);
    return {
      interface: account.interface,
      accountGuid: account.guid,
      accountName: account.name,
      clientId,
      features: account.features,
      scopes: ['webhooks:read', 'webhooks:write'],
      actor,
      isOperator: true,
    };
  };
}

/** The client that `nameClient` noted. */
const actedFor = ({ res }: Request): ClientInPath => res?.locals['actingFor'] as ClientInPath;

const MOST_NAMED = 20;

/** In a path a client is named as it is or, as proxies change what is in paths, by `~` and its base64url. */
const decodedClient = (text: string): string =>
  text.startsWith('~') ? Buffer.from(text.slice(1), 'base64url').toString() : text;

/** Throws Refusal for a client that the account does not have: a mistyped one must not seem to have nothing. */
function knownClient(text: string, clients: readonly { client_id: string }[]): string {
  const clientId = decodedClient(text);
  const found = [text, clientId].find((named) => clients.some((each) => each.client_id === named));
  if (found !== undefined) return found;
  const named = clients.slice(0, MOST_NAMED).map((each) => each.client_id);
  const all = [...named, ...(clients.length > MOST_NAMED ? ['…'] : [])].join(', ');
  const has = clients.length === 0 ? 'it has none yet' : `it has ${all}`;
  throw new Refusal(`this account has no client "${clientId}": ${has}`, 'unknown-client');
}
