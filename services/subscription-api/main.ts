import { actions as catalog } from '@waybell/catalog/actions';
import { operatorLine } from '@waybell/line/operating/operator-line';
import { ClockWatch } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { startProcess } from '@waybell/runtime/process-parts';
import { connectRedis } from '@waybell/runtime/redis';
import { readConfig } from './config.ts';
import { openDatabase } from './database.ts';
import { startPruning } from './prune-audit-log.ts';
import { createAdminApi } from './rest/operators/admin-api.ts';
import { createApi, interfacesOf } from './rest/api.ts';
import { authenticateBearer } from './rest/authentication/authenticate.ts';
import { byAccessToken } from './rest/authentication/by-access-token.ts';
import { byJwt } from './rest/authentication/by-jwt.ts';
import { adminDocuments, publicDocuments } from './rest/documents/documents.ts';
import { httpMetrics } from './rest/http/http-metrics.ts';
import { serveApi } from './rest/http/serve-api.ts';
import { serveListeners } from './rest/listeners/serve-listeners.ts';
import { openLive } from './rest/live/live.ts';
import { streamRoom } from './rest/live/stream-room.ts';
import { keepSigningSecrets } from './signing-secrets.ts';
import { keepSubscriptions } from './subscriptions.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('subscription-api', config.process);
await using database = openDatabase({ ...config.postgres, log: parts.log });
parts.readiness.watch(database.waitingFor);
await using _clocks = new ClockWatch({ ask: database.askLog, limitMs: config.clockLimitMs, ...parts });
await using _pruning = startPruning({ database, retentionMs: config.auditRetentionMs, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });

const until = parts.shutdown.begun;
using room = streamRoom(config.streamLimits, until);
await using live = openLive({ database, catalog, room, log: parts.log });
await using hearing = connectRedis({ ...config.redis, log: parts.log });
await using listenerSettings = serveListeners({ ...config, database, redis, hearing, room, until, log: parts.log });
const common = { ...config, ...parts, redis, httpMetrics: httpMetrics(parts.metrics) };
const jwt = config.jwt && byJwt(database, config.jwt);
const api = createApi({
  ...common,
  authenticate: authenticateBearer({ opaque: byAccessToken(database), jwt }),
  subscriptions: keepSubscriptions({ database, keyRing: config.keyRing }),
  signingSecrets: keepSigningSecrets({ database, ...config }),
  database,
  catalog,
  documents: publicDocuments({ interfaces: interfacesOf(config.interfaces), catalog }),
  live,
  listenerSettings,
});
await using server = await serveApi(api, { ...config.listen, until }, common.httpMetrics);
parts.log.info({ port: server.port, interfaces: config.interfaces }, 'api.listening');

const line = config.operatorBroker && operatorLine(config.operatorBroker);
const admin = createAdminApi({ ...common, database, documents: adminDocuments(), line });
await using adminServer =
  config.listenAdmin && (await serveApi(admin, { ...config.listenAdmin, until }, common.httpMetrics));
if (adminServer !== undefined) parts.log.info({ port: adminServer.port }, 'admin.listening');

await parts.shutdown.untilBegun();
