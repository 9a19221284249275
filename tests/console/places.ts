import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import type { OpenPage } from '../testing/browser.ts';
import type { Furnished } from './furnished.ts';
import { aClientCertificate, putCredentials } from './put-credentials.ts';
import { receiver, subscribed } from './stand.ts';

/** A page, or a dialog of it: how somebody who has signed in gets there. */
export type Place = [name: string, go: (page: Page, known: Furnished, opened: OpenPage) => Promise<unknown>];

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
export const dialog = (page: Page) => page.getByRole('dialog');

/** Leads to an address of the console without loading it anew. */
export const to = async (page: Page, address: string): Promise<void> =>
  page.evaluate(`location.hash = ${JSON.stringify(`#${address}`)}`);

/** Waits until the feed is live. */
export const untilLive = async (page: Page): Promise<void> =>
  page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor();

/** Opens a dialog by a button of the page there. */
export const asks = (address: string, name: string | RegExp) => async (page: Page) => {
  await to(page, address);
  await button(page, name).first().click();
  await dialog(page).waitFor();
};

export const clientPlaces: Place[] = [
  [
    'subscriptions',
    async (page) =>
      page
        .getByLabel(/^The last 24 hours/)
        .first()
        .waitFor(),
  ],
  ['subscribing', asks('/subscriptions', /^Subscribe$/)],
  [
    'a test',
    async (page) => {
      await asks('/subscriptions', 'Send a test')(page);
      await dialog(page)
        .getByText(/^HTTP \d/)
        .first()
        .waitFor();
    },
  ],
  [
    'a count of what was missed',
    async (page) => {
      await asks('/subscriptions', 'What did we miss?')(page);
      await dialog(page).getByRole('button', { name: 'Count' }).click();
      await dialog(page)
        .getByText(/missed\.$/)
        .waitFor();
    },
  ],
  [
    'a replay',
    async (page, { carrier }) => {
      await carrier.hear('order.delivered', { payload: { id: 1 } });
      await subscribed(carrier, 'order.delivered');
      await to(page, '/catalog');
      await page.getByText('Choose an action').waitFor();
      await to(page, '/subscriptions');
      const card = page.getByRole('region', { name: 'order.delivered' });
      await card.getByRole('button', { name: 'What did we miss?' }).click();
      await until('it is counted', async () => {
        await dialog(page).getByRole('button', { name: 'Count' }).click();
        return dialog(page)
          .getByRole('button', { name: /^Send 1 again/ })
          .isVisible();
      });
      await dialog(page)
        .getByRole('button', { name: /^Send 1 again/ })
        .click();
      await dialog(page).getByText('All of it is delivered.').waitFor();
    },
  ],
  ['a change of a subscription', asks('/subscriptions', 'Change')],
  ['a pause', asks('/subscriptions', 'Pause')],
  [
    'a way back that stops at a test that fails',
    async (page) => {
      await asks('/subscriptions', 'Switch on')(page);
      await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
      await dialog(page).getByText('The test failed.').waitFor();
    },
  ],
  [
    'subscriptions to several actions',
    async (page) => {
      await asks('/subscriptions', 'Subscribe')(page);
      await dialog(page).getByLabel('Search actions').fill('damage.*');
      await dialog(page)
        .getByRole('button', { name: /^Select all/ })
        .click();
      await dialog(page)
        .getByLabel('URL of your receiver')
        .fill(receiver.url(`/${randomUUID()}`));
      await dialog(page)
        .getByRole('button', { name: /^Subscribe/ })
        .click();
      await dialog(page).getByRole('button', { name: /^Copy/ }).first().waitFor();
    },
  ],

  ['the end of a subscription', asks('/subscriptions', /^Unsubscribe$/)],
  [
    'a timeline, opened',
    async (page, known) => {
      await to(page, `/timeline/${known.order}`);
      await button(page, /given up/).click();
      await page.getByLabel('cURL command', { exact: true }).waitFor();
    },
  ],
  [
    'a timeline of nothing',
    async (page) => {
      await to(page, '/timeline/nothing-is-called-so');
      await page.getByText('Nothing found').waitFor();
    },
  ],
  [
    'a delivery',
    async (page, known) => {
      await to(page, `/deliveries/${known.delivery}`);
      await page.getByLabel('cURL command', { exact: true }).waitFor();
    },
  ],
  [
    'a delivery that is none',
    async (page, _known, { untilTrouble }) => {
      await to(page, `/deliveries/${randomUUID()}`);
      await untilTrouble(/404/);
    },
  ],
  [
    'live',
    async (page, known) => {
      await to(page, '/live');
      await untilLive(page);
      await known.carrier.hear('order.assigned', { payload: { id: 1 } });
      await known.carrier.hear('order.cancelled', { payload: { id: 1 } });
      await page.locator('.feed-line').nth(1).waitFor();
    },
  ],
  [
    'the catalog',
    async (page) => {
      await to(page, '/catalog');
      await page.getByText('Choose an action').waitFor();
    },
  ],
  ...['Fields', 'Example', 'Schema'].map((tab): Place => [
    `the catalog's ${tab.toLowerCase()}`,
    async (page) => {
      await to(page, '/catalog?action=order.created');
      await page.getByRole('tab', { name: tab }).click();
    },
  ]),
  [
    'secrets',
    async (page) => {
      await to(page, '/secrets');
      await button(page, 'Show').first().waitFor();
    },
  ],
  [
    'credentials',
    async (page, { carrier }) => {
      const certificate = aClientCertificate('waybell-client', 12.5);
      const oauth2 = { token_url: receiver.url('/token?a=b'), client_id: 'a', client_secret: 'b', scope: 'c' };
      await putCredentials(carrier, 'gateway.example.com', { headers: { 'X-Api-Key': 'a' }, oauth2, certificate });
      await to(page, '/credentials');
      await page.getByText('ends in 12 days').waitFor();
    },
  ],
  [
    'credentials of every kind, before they are put in',
    async (page) => {
      await asks('/credentials', 'Put in credentials')(page);
      for (const kind of ['headers', 'OAuth2', 'certificate'])
        await dialog(page)
          .getByRole('button', { name: `Add ${kind}` })
          .click();
    },
  ],
  ['the removal of credentials', asks('/credentials', /^Remove credentials/)],
  ['a rotation', asks('/secrets', 'Rotate')],
  [
    'no page',
    async (page) => {
      await to(page, '/nowhere');
      await page.getByText('There is no such page').waitFor();
    },
  ],
];
