import { actions as catalog } from '@waybell/catalog/actions';
import { configOrExit } from '@waybell/runtime/environment';
import { startProcess } from '@waybell/runtime/process-parts';
import { untilShutdown } from '@waybell/runtime/shutdown';
import { readConfig } from './config.ts';
import { openDatabase } from './database.ts';
import { createApi } from './rest/api.ts';
import { authenticateByAccessToken } from './rest/authenticate.ts';
import { serveApi } from './rest/serve-api.ts';
import { keepSubscriptions } from './subscriptions.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('subscription-api', config.process);
await using database = openDatabase({ ...config.postgres, log: parts.log });
parts.readiness.watch(database.waitingFor);

const authenticate = authenticateByAccessToken(database);
const subscriptions = keepSubscriptions({ database, keyRing: config.keyRing });
const api = createApi({ ...config, ...parts, authenticate, subscriptions, catalog });

await using server = await serveApi(api, config.listen);
parts.log.info({ port: server.port, interfaces: config.interfaces }, 'api.listening');

await untilShutdown({ graceMs: config.graceMs, log: parts.log });
