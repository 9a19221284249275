import { actions as catalog } from '@waybell/catalog/actions';
import { operatorLine } from '@waybell/line/operating/operator-line';
import type { ProcessParts } from '@waybell/runtime/process-parts';
import type { Redis } from '@waybell/runtime/redis';
import type { Config } from './config.ts';
import type { Database } from './database.ts';
import { keepCredentials } from './receiver-credentials.ts';
import { createApi, interfacesOf } from './rest/api.ts';
import { authenticateBearer, byAccessToken } from './rest/authentication/authenticate.ts';
import { byJwt } from './rest/authentication/by-jwt.ts';
import { awaitEnds } from './rest/deliveries/await-ends.ts';
import { adminDocuments, publicDocuments } from './rest/documents/documents.ts';
import { sourceNetworks } from './rest/documents/source-networks.ts';
import { httpMetrics } from './rest/http/http-metrics.ts';
import { serveApi } from './rest/http/serve-api.ts';
import { serveListeners } from './rest/listeners/relay.ts';
import { streamCapacity } from './rest/live/event-stream.ts';
import { openLive } from './rest/live/live.ts';
import { createAdminApi } from './rest/admin-api.ts';
import { keepSigningSecrets } from './signing-secrets.ts';
import { keepSubscriptions } from './subscriptions.ts';

export type SubscriptionApiOptions = {
  config: Config;
  parts: ProcessParts;
  database: Database;
  redis: Redis;
  /** Another connection to Redis, for listeners alone. */
  hearing: Redis;
};

/** To be closed once nothing listens any more. */
export type SubscriptionApi = AsyncDisposable & {
  /** Listens to clients, and to operators where they have a port. Closed, it finishes the requests that it has. */
  listen(): Promise<AsyncDisposable>;
};

export function openSubscriptionApi(options: SubscriptionApiOptions): SubscriptionApi {
  const { config, parts, database, redis, hearing } = options;
  const { log, metrics } = parts;
  const until = parts.shutdown.begun;
  const closing = new AsyncDisposableStack();
  const capacity = closing.use(streamCapacity(config.streamLimits, until));
  const live = closing.use(openLive({ database, catalog, capacity, log }));
  const awaiting = closing.use(awaitEnds({ database, capacity, log }));
  const listenerSettings = closing.use(serveListeners({ ...config, database, redis, hearing, capacity, until, log }));
  const common = { ...config, ...parts, redis, httpMetrics: httpMetrics(metrics) };
  const jwt = config.jwt && byJwt(database, config.jwt);
  const interfaces = interfacesOf(config.interfaces);
  const subscriptions = keepSubscriptions({ database, keyRing: config.keyRing });
  const api = createApi({
    ...common,
    authenticate: authenticateBearer({ opaque: byAccessToken(database), jwt }),
    subscriptions,
    signingSecrets: keepSigningSecrets({ database, ...config }),
    credentials: keepCredentials({ database, keyRing: config.keyRing }),
    database,
    catalog,
    documents: publicDocuments({
      interfaces,
      catalog,
      sourceNetworks: sourceNetworks(config.callbackTerms, interfaces),
    }),
    live,
    awaiting,
    listenerSettings,
  });
  const line = config.operatorBroker && operatorLine(config.operatorBroker);
  const forClients = { subscriptions, catalog, live, awaiting };
  const admin = createAdminApi({ ...common, ...forClients, database, documents: adminDocuments(catalog), line });
  return {
    async listen() {
      await using opened = new AsyncDisposableStack();
      const { port } = opened.use(await serveApi(api, { ...config.listen, until }, common.httpMetrics));
      log.info({ port, interfaces: config.interfaces }, 'api.listening');
      if (config.listenAdmin !== undefined) {
        const server = opened.use(await serveApi(admin, { ...config.listenAdmin, until }, common.httpMetrics));
        log.info({ port: server.port }, 'admin.listening');
      }
      return opened.move();
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
