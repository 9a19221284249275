import { randomBytes } from 'node:crypto';
import type { Action } from '@waybell/catalog/action';
import { actions } from '@waybell/catalog/actions';
import { operatorLine } from '@waybell/line/operating/operator-line';
import { rejectedQueue, routerQueue } from '@waybell/line/topology';
import { createMetrics, type Metrics } from '@waybell/runtime/metrics';
import { readNetworks } from '@waybell/runtime/networks';
import { connectRedis } from '@waybell/runtime/redis';
import { readKeyRing } from '@waybell/runtime/secrets';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { createAccount } from '../accounts.ts';
import { openDatabase, type Database } from '../database.ts';
import { keepCredentials } from '../receiver-credentials.ts';
import { createApi, interfacesOf, type ApiOptions } from '../rest/api.ts';
import { authenticateBearer, byAccessToken } from '../rest/authentication/authenticate.ts';
import { byJwt, type JwtRules } from '../rest/authentication/by-jwt.ts';
import type { Documents } from '../operations/services.ts';
import { adminDocuments, publicDocuments } from '../rest/documents/documents.ts';
import { sourceNetworks } from '../rest/documents/source-networks.ts';
import { httpMetrics } from '../rest/http/http-metrics.ts';
import type { Limits } from '../rest/http/limits.ts';
import { serveApi, type ServerLimits } from '../rest/http/serve-api.ts';
import { createAdminApi } from '../rest/admin-api.ts';
import { keepSigningSecrets } from '../signing-secrets.ts';
import { keepSubscriptions } from '../subscriptions.ts';
import { createToken } from '../tokens.ts';
import { askedBy, type Asked } from './ask.ts';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { PATIENT_MS, silentLog } from '@waybell/runtime/testing/patience';
import { openStreams, type ListenerTestSettings, type LiveSettings } from './streams.ts';

export type TestApi = AsyncDisposable &
  Asked & {
    /** The operators' interface of the same process. */
    admin: Asked;
    store: TestDatabase;
    database: Database;
    metrics: Metrics;
  };

export const keyRing = readKeyRing(`test:${randomBytes(32).toString('base64')}`);

type StartOptions = {
  catalog?: readonly Action[];
  interfaces?: string[];
  through?: (url: string) => string;
  isMigrated?: boolean;
  redisUrl?: string;
  overlapMs?: number;
  /** The limit of a statement. */
  timeoutMs?: number;
  /** How often it looks at what it looks at every second. */
  checkEveryMs?: number;
  limits?: Partial<Limits & ServerLimits>;
  trustedProxies?: string[];
  jwt?: JwtRules;
  live?: LiveSettings;
  listeners?: ListenerTestSettings;
  /** Another process of the same service. */
  beside?: Pick<TestApi, 'store'>;
  /** Operators have a way to this broker. */
  brokerUrl?: string;
};

/**
 * The REST interfaces on ports and a database of their own. Whatever they are asked, they must answer as their own OpenAPI
 * documents say. `through` leads their connections another way.
 */
export async function startApi(options: StartOptions = {}): Promise<TestApi> {
  await using stack = new AsyncDisposableStack();
  const { checkEveryMs = 1_000 } = options;
  const store = options.beside?.store ?? stack.use(await createTestDatabase(options));
  const url = options.through?.(store.url) ?? store.url;
  const database = stack.use(
    openDatabase({
      url,
      role: '',
      poolSize: 8,
      timeoutMs: options.timeoutMs ?? PATIENT_MS,
      checkEveryMs,
      log: silentLog,
    }),
  );
  const redisUrl = options.redisUrl ?? (await borrowRedis()).url;
  const redis = stack.use(connectRedis({ url: redisUrl, timeoutMs: PATIENT_MS, log: silentLog }));
  const metrics = createMetrics('test');
  const limits = { ...unlimited, ...options.limits };
  const measured = httpMetrics(metrics);
  const trustedProxies = options.trustedProxies ?? [];
  const streams = openStreams({ ...options, checkEveryMs, database, redis, redisUrl, keyRing, eventLimits });
  const common = {
    limits,
    trustedProxies,
    redis,
    log: silentLog,
    httpMetrics: measured,
    eventLimits,
    console: { client: aConsole('client'), operator: aConsole('operator') },
  };
  const jwt = options.jwt && byJwt(database, options.jwt);
  const { interfaces = ['shipper', 'carrier'], catalog = actions } = options;
  const forClients = {
    subscriptions: keepSubscriptions({ database, keyRing }),
    catalog,
    callbackRules,
    maxAgeMs: 86_400_000,
    ...streams.routes,
  };
  const api = createApi({
    ...common,
    ...forClients,
    interfaces,
    documents: documentsOf(interfaces, catalog),
    authenticate: authenticateBearer({ opaque: byAccessToken(database), jwt }),
    signingSecrets: keepSigningSecrets({ database, keyRing, overlapMs: options.overlapMs ?? 60_000 }),
    credentials: keepCredentials({ database, keyRing }),
    database,
  });
  const line = options.brokerUrl === undefined ? undefined : operatorLine(operatorBroker(options.brokerUrl));
  const adminApi = createAdminApi({
    ...common,
    ...forClients,
    database,
    documents: once(catalog, 'admin', () => adminDocuments(catalog)),
    line,
    queues: [rejectedQueue, routerQueue, 'none.of.these'],
  });
  const at = { host: '127.0.0.1', port: 0, trustedProxies, checkEveryMs, ...limits };
  const server = stack.use(await serveApi(api, at, measured));
  const adminServer = stack.use(await serveApi(adminApi, at, measured));
  // Streams end before the server waits for its answers to end.
  stack.use(streams);
  if (options.isMigrated !== false) await until('the database is there', () => database.waitingFor().length === 0);
  const asked = await askedBy(server.port, '/openapi.json');
  const admin = await askedBy(adminServer.port, '/admin-openapi.json');
  const opened = stack.move();
  return { ...asked, admin, store, database, metrics, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const aConsole = (view: 'client' | 'operator') => ({ settings: { view }, parents: [] });

const written = new WeakMap<readonly Action[], Map<string, Documents>>();

/** Written once for all that a process tests of a catalog: they are large. */
function once(catalog: readonly Action[], name: string, write: () => Documents): Documents {
  const documents = written.get(catalog)?.get(name) ?? write();
  written.set(catalog, (written.get(catalog) ?? new Map<string, Documents>()).set(name, documents));
  return documents;
}

function documentsOf(interfaces: readonly string[], catalog: readonly Action[]): Documents {
  const served = interfacesOf(interfaces);
  return once(catalog, served.join(), () =>
    publicDocuments({ interfaces: served, catalog, sourceNetworks: sourceNetworks(callbackTerms, served) }),
  );
}

/** Terms of callbacks in tests. */
export const callbackTerms = {
  networks: ['203.0.113.0/28', '2001:db8:9::/48'],
  isHttpAllowed: false,
  deniedPorts: ['1-79', '6379'],
  eventBytes: 2 ** 20,
  limits: { shipper: { handoverMs: 10_000, responseMs: 60_000 }, carrier: { responseMs: 3_000 } },
};

const eventLimits = { maxBytes: 60_000, maxDepth: 32 };

const operatorBroker = (url: string) => ({ address: { url }, limitMs: PATIENT_MS });

const callbackRules: ApiOptions['callbackRules'] = {
  isHttpAllowed: false,
  networks: readNetworks([]),
  deniedPorts: new Set([6379]),
  resolve: resolveForTests,
};

/** Limits that no test reaches unless it is about them, even on a machine that stands still. */
const unlimited: Limits & Omit<ServerLimits, 'trustedProxies'> = {
  requestsPerMinute: 1_000_000,
  failuresPerMinute: 2_000_000,
  headersTimeoutMs: PATIENT_MS,
  requestTimeoutMs: 2 * PATIENT_MS,
  answerTimeoutMs: 3 * PATIENT_MS,
  idleTimeoutMs: 4 * PATIENT_MS,
  connectionLimit: 1_000,
  connectionsPerAddress: 1_000,
};

/** An account and a token for it. */
export async function signUp(
  { store }: Pick<TestApi, 'store'>,
  account: {
    interface: 'shipper' | 'carrier';
    name?: string;
    features?: string[];
    clientId?: string;
    scopes?: string[];
  },
): Promise<{ guid: string; token: string }> {
  const { guid } = await createAccount(store.postgres, account);
  return { guid, token: await createToken(store.postgres, { accountGuid: guid, ...account }) };
}

/** Names whose answers a test knows, on every machine. */
async function resolveForTests(host: string): Promise<string[] | undefined> {
  const known: Record<string, string[]> = {
    'inside.test': ['10.0.0.1', 'fd00::1'],
    'mixed.test': ['10.0.0.1', '93.184.215.14'],
    'hooks.test': ['93.184.215.14'],
  };
  return known[host];
}
