import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { messageGuid } from '@waybell/notifications/notification';
import { addHeader, card, fillRow, hostField, marked, rowOf, send } from './credentials-dialog.ts';
import { untilStatus } from './furnished.ts';
import { expectReadable, untilGone, untilReads } from './page-checks.ts';
import { button, dialog, to, untilLive } from './places.ts';
import { aClientCertificate, putCredentials } from './put-credentials.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, receiver, SOURCE_NETWORK, stack, subscribed, type Account } from './stand.ts';

const HOST = 'gateway.example.com';
const NO_TOKEN = '/no-token';
const SECRET = { one: 'a-value-nobody-sees', other: 'another-value-nobody-sees', third: 'a-third-value-nobody-sees' };
const SECRETS = Object.values(SECRET);

export function credentials(): void {
  describe('by the console, a client', () => {
    test('puts credentials in for a host that it is called at: callbacks have them, and the page has no value of them', async () => {
      const carrier = await anAccount('carrier');
      const { path } = await subscribed(carrier, 'order.created');
      const { host } = new URL(receiver.url(path));
      const opened = await signedIn({ token: carrier.token });
      const { page } = opened;
      await to(page, '/credentials');
      await button(page, 'Add credentials').click();
      const hosts = dialog(page).locator('datalist option');
      await hosts.waitFor({ state: 'attached' });
      await untilReads(() => hosts.evaluateAll((options) => options.map((each) => each.getAttribute('value'))), [host]);
      await hostField(page).fill(`http://${host}/any/path`);
      await addHeader(page, 1, ['X-Api-Key', SECRET.one]);
      await button(page, 'Add Basic').click();
      await untilGone(button(page, 'Add OAuth2'));
      await dialog(page).getByLabel('User name').fill('waybell');
      await dialog(page).getByLabel('Password').fill(SECRET.other);
      await send(page, 'Add');
      const told = card(page, host);
      await told.getByText('X-Api-Key').waitFor();
      await told.getByText('user waybell').waitFor();
      await told.getByText('used by 1 subscription').waitFor();
      await expectNowhere(page, SECRETS);
      await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      const { headers } = await received(path);
      expect(headers).toMatchObject({ 'x-api-key': SECRET.one, authorization: basic('waybell', SECRET.other) });
    });

    test('replaces credentials whole, and removes them, after it is told what becomes of callbacks', async () => {
      const carrier = await withCredentials({ headers: { 'X-Api-Key': 'a' }, basic: { username: 'b', password: 'c' } });
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/credentials');
      await button(page, `Replace credentials for ${HOST}`).click();
      await dialog(page).getByText('(headers, Basic) as a whole').waitFor();
      await button(page, 'Remove Basic').click();
      await untilReads(() => rowOf(page, 1).getByLabel('Name').inputValue(), 'X-Api-Key');
      await rowOf(page, 1).getByLabel('Value').fill(SECRET.one);
      await button(page, 'Add header').click();
      await fillRow(page, 2, ['x-api-key ', SECRET.other]);
      await send(page, 'Replace');
      // An object has only one of two headers with the same name: nothing is sent.
      await untilReads(() => dialog(page).locator('input:invalid').count(), 2);
      await rowOf(page, 2).getByLabel('Name').fill('X-Other-Key');
      await send(page, 'Replace');
      await card(page, HOST).getByText('X-Other-Key').waitFor();
      await untilGone(card(page, HOST).getByText('Basic'));
      await expectNowhere(page, SECRETS);
      await button(page, `Remove credentials for ${HOST}`).click();
      await dialog(page).getByText('are sent without credentials from now on').waitFor();
      await button(page, 'Cancel').click();
      await button(page, `Remove credentials for ${HOST}`).click();
      await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByText('No credentials yet.').waitFor();
      expect((await carrier.call('GET', `/v1/credentials/${HOST}`)).status).toBe(404);
    });

    test('is told at its field what of them is refused, and puts the rest in without typing it again', async () => {
      const { token } = await anAccount('carrier');
      const tokenUrl = receiver.url('/token');
      const opened = await signedIn({ token });
      const { page } = opened;
      await to(page, '/credentials');
      await button(page, 'Add credentials').click();
      await hostField(page).fill(HOST);
      await addHeader(page, 1, ['Content-Type', SECRET.one]);
      await button(page, 'Add OAuth2').click();
      await dialog(page).getByLabel('Token URL').fill('https://169.254.169.254/token');
      await dialog(page).getByLabel('Client id').fill('a-client');
      await dialog(page).getByLabel('Client secret').fill(SECRET.third);
      await send(page, 'Add');
      await dialog(page).getByText('Nothing saved: check the marked fields.').waitFor();
      await opened.untilTrouble(/422/);
      await dialog(page).getByText('Points to 169.254.169.254, which is private or reserved').waitFor();
      expect(await marked(page)).toEqual(['header-name', 'header-value', '#/oauth2/token_url']);
      await untilReads(() => dialog(page).locator(':focus').getAttribute('name'), 'header-name');
      await expectReadable(page);
      await rowOf(page, 1).getByLabel('Name').fill('X-Api-Key');
      await dialog(page).getByLabel('Token URL').fill(tokenUrl);
      await send(page, 'Add');
      await card(page, HOST).getByText(`client a-client at ${tokenUrl}`).waitFor();
      await expectNowhere(page, SECRETS);
    });

    test('puts a certificate in from files, and sees when it ends', async () => {
      const { key, chain } = aClientCertificate('waybell-client', 40.5);
      const carrier = await anAccount('carrier');
      const { page } = await signedIn({ token: carrier.token });
      await to(page, `/credentials?host=${HOST}:8443`);
      await button(page, 'Add certificate').click();
      const files = dialog(page).getByLabel('PEM files');
      await files.setInputFiles({ name: 'client.p12', mimeType: '', buffer: Buffer.from([0x30, 0x82]) });
      await dialog(page).getByText('openssl pkcs12').waitFor();
      await files.setInputFiles([
        { name: 'key.pem', mimeType: '', buffer: Buffer.from(key) },
        { name: 'chain.pem', mimeType: '', buffer: Buffer.from(`subject=CN = a\n${chain}`) },
      ]);
      await dialog(page).getByText('Found certificates and a key.').waitFor();
      await send(page, 'Add');
      const told = card(page, `${HOST}:8443`);
      await told.getByText('Expires in 40 days').waitFor();
      await told.getByText('waybell-client').waitFor();
      await expectNowhere(page, key.split('\n').slice(1, -2));
    });

    test('puts credentials in by the keyboard alone: what is added has the focus, and what is left out gives it back', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await signedIn({ token });
      const { keyboard } = page;
      await to(page, `/credentials?host=${HOST}`);
      await button(page, 'Add headers').press('Enter');
      await keyboard.type('X-Api-Key');
      await keyboard.press('Tab');
      await keyboard.type(SECRET.one);
      await button(page, 'Add certificate').press('Enter');
      await focused(page).and(dialog(page).getByLabel('PEM files')).waitFor();
      await button(page, 'Remove certificate').press('Enter');
      await focused(page).and(button(page, 'Add certificate')).waitFor();
      await button(page, 'Add Basic').press('Enter');
      await keyboard.type('waybell');
      await keyboard.press('Tab');
      await keyboard.type(SECRET.other);
      await keyboard.press('Enter');
      await card(page, HOST).getByText('user waybell').waitFor();
      await untilReads(() => card(page, HOST).getByText('X-Api-Key').count(), 1);
      await expectNowhere(page, SECRETS);
    });

    test('is led from a delivery that was refused with 401 or 403, or had no token, to the credentials for its host', async () => {
      const carrier = await anAccount('carrier');
      receiver.answer(NO_TOKEN, 500);
      const tokenUrl = receiver.url(NO_TOKEN).replace('127.0.0.1', 'localhost');
      const { page } = await signedIn({ token: carrier.token });
      for (const [action, answer, given] of [
        ['order.created', 401, { headers: { 'X-Api-Key': 'of-yesterday' } }],
        ['order.delivered', 403, { headers: { 'X-Api-Key': 'of-yesterday' } }],
        ['order.updated', 200, { oauth2: oauth2At(tokenUrl) }],
      ] as const) {
        const { path, subscription } = await subscribed(carrier, action, answer);
        const { host } = new URL(receiver.url(path));
        await putCredentials(carrier, host, given);
        const { guid } = await carrier.hear(action, { payload: { id: 1, status: 'new' } });
        const delivery = messageGuid(guid, subscription);
        await untilStatus(carrier, delivery, 'exhausted');
        await to(page, `/deliveries/${delivery}`);
        const links = page.getByRole('link', { name: `Credentials for ${host}` });
        await links.first().waitFor();
        // The last attempt is open: its delivery has the link.
        await untilReads(() => links.count(), 1);
        await button(page, /^Attempt 1/).click();
        await links.nth(1).waitFor();
        await links.last().click();
        await dialog(page).getByText('as a whole: enter everything again').waitFor();
        await untilReads(() => hostField(page).inputValue(), host);
        await button(page, 'Cancel').click();
      }
    });

    test('sees live that a certificate ends soon, and is led to it', async () => {
      const carrier = await anAccount('carrier');
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/live');
      await untilLive(page);
      await putCredentials(carrier, HOST, { certificate: aClientCertificate('waybell-client', 12.5) });
      // Each deactivator does this every ten seconds.
      await stack.postgres.query("select waybell.tell_ending_certificates(interval '30 days')");
      const notice = page.locator('.feed-line').filter({ hasText: 'certificate.ending' });
      await notice.getByText(HOST).waitFor();
      await notice.getByRole('link').first().click();
      const end = card(page, HOST).getByText('Expires in 12 days');
      await end.waitFor();
      await untilReads(() => end.getAttribute('class'), 'bad');
    });

    test('sees where callbacks come from, unless the operator tells none', async () => {
      const { tokens } = await anAccount('shipper');
      const { page } = await signedIn({ token: tokens.read });
      await to(page, '/credentials');
      const section = page.getByRole('region', { name: 'Source networks' });
      await section.getByText(SOURCE_NETWORK).waitFor();
      const opened = page.waitForEvent('popup');
      await section.getByRole('link', { name: 'page for security teams' }).click();
      await (await opened).getByText(SOURCE_NETWORK).first().waitFor();
      const silent = await signedIn({ token: tokens.read });
      await silent.page.route(
        ({ pathname }) => pathname === '/v1/source-networks',
        async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, json: { ...(await response.json()), networks: null } });
        },
      );
      const told = silent.page.waitForResponse((response) => response.url().endsWith('/v1/source-networks'));
      await to(silent.page, '/credentials');
      await (await told).finished();
      await silent.page.getByText('No credentials yet.').waitFor();
      await untilGone(silent.page.getByText('Source networks'));
    });
  });
}

const oauth2At = (tokenUrl: string) => ({ token_url: tokenUrl, client_id: 'a', client_secret: 'b' });

const focused = (page: Page) => dialog(page).locator(':focus');

const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

async function received(path: string) {
  await receiver.untilReceived(path, 1);
  const [first] = receiver.at(path);
  if (first === undefined) throw new Error('nothing came');
  return first;
}

/** A carrier who has put these in for a host. */
async function withCredentials(given: object): Promise<Account> {
  const carrier = await anAccount('carrier');
  await putCredentials(carrier, HOST, given);
  return carrier;
}

/** The text of a page, and the values of its fields. */
type Kept = {
  document: {
    cookie: string;
    documentElement: { outerHTML: string };
    querySelectorAll(what: string): { value: string }[];
  };
  localStorage: object;
  sessionStorage: object;
  location: { href: string };
  history: { state: unknown };
};

/** None of these is in the page, once its dialog is closed, nor anywhere that a page can keep something. */
async function expectNowhere(page: Page, secrets: readonly string[]): Promise<void> {
  await dialog(page).waitFor({ state: 'detached' });
  const kept = await page.evaluate(() => {
    const { document, localStorage, sessionStorage, location, history } = globalThis as unknown as Kept;
    const fields = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
    const { cookie, documentElement } = document;
    return JSON.stringify([
      cookie,
      documentElement.outerHTML,
      fields,
      localStorage,
      sessionStorage,
      location.href,
      history.state,
    ]);
  });
  expect(secrets.filter((each) => kept.includes(each))).toEqual([]);
}
