import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { createToken, type Scope } from '@waybell/subscription-api/tokens';
import { openBrowser, type Browser } from '../testing/browser.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver, type Behaviour } from '../testing/receiver.ts';
import { TestStack, type Client } from '../testing/test-stack.ts';

/** The one system of all tests of pages, the browser, and the receiver that all integrators have: there once tests run. */
export let stack: TestStack;
export let browser: Browser;
export let receiver: Receiver;

/** The number of retries in the contract of carriers, with short pauses: a delivery is exhausted in a second. */
const CARRIER_DELAYS_MS = [100, 200, 400];

/** The configured networks of callbacks. */
export const SOURCE_NETWORK = '8.8.8.0/28';

beforeAll(async () => {
  receiver = await Receiver.start();
  const settings = {
    ...PATIENT,
    // Its pages may frame those of clients.
    CONSOLE_PARENTS: new URL(receiver.url('/')).origin,
    CARRIER_RETRY_DELAYS: CARRIER_DELAYS_MS.map((delayMs) => `${delayMs}ms`).join(),
    LOG_SEND_INTERVAL: '50ms',
    CALLBACK_SOURCE_NETWORKS: SOURCE_NETWORK,
  };
  await Promise.all([
    TestStack.start(settings).then((started) => (stack = started)),
    openBrowser().then((opened) => (browser = opened)),
  ]);
});

/** Unexpected errors on a page fail the test. */
afterEach(async () => browser?.closePages());

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** The address of the API, which serves the pages. */
export const apiUrl = (): string => stack.stack.addresses['API_URL'] ?? '';

/** The address of the operators' API. */
export const operatorsUrl = (): string => stack.stack.addresses['ADMIN_URL'] ?? '';

/** A new account, a client that may do everything to it, and tokens of that client. */
export type Account = Client & { tokens: { read: string; write: string; both: string } };

export async function anAccount(interfaceName: 'shipper' | 'carrier'): Promise<Account> {
  const client = await stack.client(interfaceName);
  const token = (scope: Scope) => createToken(stack.postgres, { accountGuid: client.account, scopes: [scope] });
  const [read, write] = await Promise.all([token('webhooks:read'), token('webhooks:write')]);
  return { ...client, tokens: { read, write, both: client.token } };
}

/** A token of an operator, who may change no webhook by it. */
export async function operatorToken(): Promise<string> {
  const { account: accountGuid } = await stack.client('shipper');
  return createToken(stack.postgres, { accountGuid, clientId: 'operators', scopes: ['admin'] });
}

/** Subscribes a client to an action, at a path of the receiver that answers so: see also `hang`. */
export async function subscribed(
  client: Client,
  action: string,
  behaviour: Behaviour = 200,
): Promise<{ path: string; subscription: string }> {
  const path = `/${randomUUID()}`;
  const url = receiver.url(path);
  receiver.answer(path, behaviour);
  await client.subscribe(action, url);
  return { path, subscription: await stack.subscriptionAt(url) };
}

/** A body of an answer that a page must show as the text that it is. */
export const HOSTILE_BODY =
  '</pre></script><script>alert(1)</script><img src="http://127.0.0.1:9/x" onerror="alert(2)"><a href="javascript:alert(3)">x</a>';

/** Refuses with that body. */
export const hostile: Behaviour = (response) => {
  response.writeHead(500, { 'content-type': 'text/html; charset=utf-8' }).end(HOSTILE_BODY);
};
