import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Action } from '@waybell/catalog/action';
import { actions } from '@waybell/catalog/actions';
import { readNetworks } from '@waybell/runtime/forbidden-address';
import { createMetrics } from '@waybell/runtime/metrics';
import { readKeyRing } from '@waybell/runtime/secrets';
import { createAccount } from '../accounts.ts';
import { openDatabase, type Database } from '../database.ts';
import { createApi } from '../rest/api.ts';
import { authenticateByAccessToken } from '../rest/authenticate.ts';
import { serveApi } from '../rest/serve-api.ts';
import { keepSubscriptions } from '../subscriptions.ts';
import { createToken } from '../tokens.ts';
import { contractOf, type Contract } from './contract.ts';
import { createTestDatabase, silentLog, type TestDatabase } from './database.ts';
import type { Node } from './documented-operations.ts';

// What an answer holds is what the tests find out.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = { status: number; headers: Headers; text: string; body: any };

export type Ask = (
  method: string,
  path: string,
  more?: { token?: string | undefined; body?: unknown; raw?: string | Buffer; headers?: Record<string, string> },
) => Promise<Answer>;

export type TestApi = AsyncDisposable & {
  port: number;
  ask: Ask;
  store: TestDatabase;
  database: Database;
  contract: Contract;
};

export const keyRing = readKeyRing(`test:${randomBytes(32).toString('base64')}`);

/**
 * The REST interface on a port and a database of its own. Whatever it is asked, it must answer as its own OpenAPI
 * document says. `through` leads its connections another way.
 */
export async function startApi(
  options: {
    catalog?: readonly Action[];
    interfaces?: string[];
    through?: (url: string) => string;
    isMigrated?: boolean;
  } = {},
): Promise<TestApi> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await createTestDatabase(options));
  const url = options.through?.(store.url) ?? store.url;
  const database = stack.use(openDatabase({ url, role: '', poolSize: 8, timeoutMs: 2_000, log: silentLog }));
  const api = createApi({
    interfaces: options.interfaces ?? ['shipper', 'carrier'],
    authenticate: authenticateByAccessToken(database),
    subscriptions: keepSubscriptions({ database, keyRing }),
    catalog: options.catalog ?? actions,
    callbackRules: { isHttpAllowed: false, allowedNetworks: readNetworks([]), resolve: resolveForTests },
    log: silentLog,
    metrics: createMetrics('test'),
  });
  const { port } = stack.use(await serveApi(api, { host: '127.0.0.1', port: 0 }));
  if (options.isMigrated !== false) await until(() => database.waitingFor().length === 0);
  const contract = contractOf(await documentOf(port));
  const opened = stack.move();
  return {
    port,
    store,
    database,
    contract,
    ask: askAt(port, contract),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** An account and a token for it. */
export async function signUp(
  { store }: Pick<TestApi, 'store'>,
  account: { interface: 'shipper' | 'carrier'; features?: string[]; clientId?: string; scopes?: string[] },
): Promise<{ guid: string; token: string }> {
  const { guid } = await createAccount(store.postgres, account);
  return { guid, token: await createToken(store.postgres, { accountGuid: guid, ...account }) };
}

export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 500; !(await isTrue()); tries -= 1) {
    if (tries === 0) throw new Error(`never came true: ${isTrue.toString()}`);
    await delay(20);
  }
}

/** Names whose answers a test knows, on every machine. */
async function resolveForTests(host: string): Promise<string[]> {
  const known: Record<string, string[]> = {
    'inside.test': ['10.0.0.1', 'fd00::1'],
    'mixed.test': ['10.0.0.1', '93.184.215.14'],
    'hooks.test': ['93.184.215.14'],
  };
  return known[host] ?? [];
}

async function documentOf(port: number): Promise<Node> {
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`, { headers: { connection: 'close' } });
  // An OpenAPI document is an object.
  return (await response.json()) as Node;
}

function askAt(port: number, contract: Contract): Ask {
  return async (method, path, { token, body, raw, headers = {} } = {}) => {
    const content = Buffer.from(raw ?? (body === undefined ? '' : JSON.stringify(body)));
    const request = new Request(`http://127.0.0.1:${port}${path}`, {
      method,
      // What is answered is looked at as it came.
      redirect: 'manual',
      headers: {
        connection: 'close',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
        ...headers,
      },
      ...(content.length === 0 ? {} : { body: content }),
    });
    const response = await fetch(request);
    const { status, headers: answered } = response;
    const text = await response.text();
    contract.check({
      method,
      path,
      requestHeaders: request.headers,
      requestBody: content,
      status,
      headers: answered,
      text,
    });
    const isJson = /json/.test(answered.get('content-type') ?? '') && text !== '';
    return { status, headers: answered, text, body: isJson ? JSON.parse(text) : undefined };
  };
}
