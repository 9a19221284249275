import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type Browser, type OpenPage } from '../testing/browser.ts';
import { clockSettings, rightClocks } from '../testing/clocks.ts';
import { startOpenIdIssuer, type OpenIdIssuer } from '../testing/open-id-issuer.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack, type Client } from '../testing/test-stack.ts';

/** The console's settings. */
export const BRAND = { CONSOLE_NAME: 'Fährlog <Events>', CONSOLE_ACCENT: '#ffd400' };

/** A system whose console leads to an issuer, and a browser: there once tests run. */
export let stack: TestStack;
export let issuer: OpenIdIssuer;
export let receiver: Receiver;
let browser: Browser;

beforeAll(async () => {
  issuer = await startOpenIdIssuer();
  await Promise.all([
    TestStack.start({ ...PATIENT, ...clockSettings, ...issuer.settings, ...BRAND }).then(
      (started) => (stack = started),
    ),
    openBrowser().then((opened) => (browser = opened)),
    Receiver.start().then((started) => (receiver = started)),
  ]);
  issuer.begin(`${apiUrl()}/console/`);
});

/** Unexpected errors on a page fail the test. */
afterEach(async () => {
  rightClocks();
  await browser.closePages();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

export const apiUrl = (): string => stack.stack.addresses['API_URL'] ?? '';

type Known = { name: string; client: Client };

/** A user of the issuer, with an account that has a subscription. */
export async function aPerson({ isRenewed = false } = {}): Promise<Known> {
  const client = await stack.client('carrier');
  await client.subscribe('order.created', receiver.url(`/${randomUUID()}`));
  const name = `person-${randomUUID()}`;
  const claims = { account: client.account, interface: 'carrier', waybell_client: 'default' };
  issuer.admit(name, { claims, isRenewed });
  return { name, client };
}

/** The page on which one signs in. */
export async function signInPage(path = '/console/'): Promise<OpenPage> {
  const opened = await browser.newPage({ origin: apiUrl(), timezone: 'Europe/Berlin', others: [issuer.origin] });
  await opened.page.goto(path);
  return opened;
}

/** To the issuer, whose form is waited for. */
export async function lead(page: Page): Promise<void> {
  await page.getByRole('button', { name: `Sign in with ${new URL(issuer.origin).host}` }).click();
  await page.getByLabel('Name').waitFor();
}

export async function goOn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Go on' }).click();
}

/** A page on which that person signed in. */
export async function signedIn({ name }: Known, { isForgotten = false } = {}): Promise<OpenPage> {
  const opened = await signInPage();
  const { page } = opened;
  if (isForgotten) await page.getByLabel('Forget me').check();
  await lead(page);
  await goOn(page, name);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return opened;
}

/** Resolves with the error that the sign-in page shows. */
export async function toldWhy(page: Page): Promise<string> {
  const [text] = await Promise.all([
    page.getByRole('alert').textContent(),
    page.getByRole('button', { name: `Sign in with ${new URL(issuer.origin).host}` }).waitFor(),
  ]);
  return text ?? '';
}

/** The addresses that the tab has been at. */
export async function history(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  return entries.map(({ url }) => url);
}

/** The access tokens that the page has asked the API with from now on. */
export function tokensOf(page: Page): Set<string> {
  const tokens = new Set<string>();
  page.on('request', (request) => {
    const { authorization } = request.headers();
    if (authorization !== undefined) tokens.add(authorization);
  });
  return tokens;
}

/** Has the issuer be asked with another value of that parameter than the page says. */
export async function askedWith(page: Page, name: string, value: string): Promise<void> {
  await page.route(
    (url) => url.origin === issuer.origin && url.searchParams.has(name),
    (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set(name, value);
      return route.fulfill({ status: 303, headers: { location: url.href } });
    },
    { times: 1 },
  );
}
