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

/** Opens an address of the console without reloading it. What is there of another page is gone then. */
export async function to(page: Page, address: string): Promise<void> {
  const { hash } = new URL(page.url());
  const [before] = await page.locator('#main > *').elementHandles();
  await page.evaluate(`location.hash = ${JSON.stringify(`#${address}`)}`);
  if (pageOf(hash) !== pageOf(`#${address}`)) await before?.waitForElementState('hidden');
}

/** `#/deliveries/<guid>?…` is of the page of `#/deliveries/<another>`. */
const pageOf = (hash: string) =>
  hash
    .replace(/\?.*/, '')
    .replace(/(?<=^#\/[^/]+)\/.*/, '/one')
    .replace(/^#?\/?/, '');

/** The row of a subscription, of which a client has one to each action. */
export const rowOf = (page: Page, action: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${action} `) }) });

/** Chooses what is to be done to a subscription, in the menu of its row. */
export async function choose(page: Page, action: string, name: string): Promise<void> {
  await rowOf(page, action)
    .getByRole('button', { name: `Actions for ${action}` })
    .click();
  await rowOf(page, action).getByRole('button', { name, exact: true }).click();
}

/** Opens a dialog by the menu of a subscription. */
const asksOf = (action: string, name: string) => async (page: Page) => {
  await to(page, '/subscriptions');
  await choose(page, action, name);
  await dialog(page).waitFor();
};

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

/** Opens where the rejected event is corrected, until it shows what is wrong with it. */
export async function openCorrection(
  page: Page,
  known: Furnished,
  { untilTrouble }: Pick<OpenPage, 'untilTrouble'>,
): Promise<void> {
  await to(page, `/rejected?about=${known.rejected.guid}`);
  await page
    .getByRole('link', { name: /^Correct/ })
    .first()
    .click();
  await page.locator('.mark-line').first().waitFor();
  await untilTrouble(/422/);
}

export const clientPlaces: Place[] = [
  [
    'the overview',
    async (page) => {
      await page
        .getByLabel(/^The last 24 hours/)
        .first()
        .waitFor();
      await page.getByRole('table', { name: 'Not delivered' }).waitFor();
    },
  ],
  [
    'subscriptions',
    async (page) => {
      await to(page, '/subscriptions');
      await page.getByRole('table', { name: 'Subscriptions', exact: true }).waitFor();
      await page
        .getByLabel(/^The last 24 hours/)
        .first()
        .waitFor();
    },
  ],
  [
    'the menu of a subscription',
    async (page) => {
      await to(page, '/subscriptions');
      await button(page, 'Actions for order.created').click();
      await button(page, 'Verification token').waitFor();
    },
  ],
  ['a verification token', asksOf('order.created', 'Verification token')],
  ['subscribing', asks('/subscriptions', /^Subscribe$/)],
  [
    'a test',
    async (page) => {
      await asksOf('order.created', 'Send a test')(page);
      await dialog(page)
        .getByText(/^HTTP \d/)
        .first()
        .waitFor();
    },
  ],
  [
    'a count of what was missed',
    async (page) => {
      await asksOf('order.created', 'Replay')(page);
      await dialog(page).getByRole('button', { name: 'Preview' }).click();
      await dialog(page)
        .getByText(/to replay/)
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
      await choose(page, 'order.delivered', 'Replay');
      await until('it is counted', async () => {
        await dialog(page).getByRole('button', { name: 'Preview' }).click();
        return dialog(page)
          .getByRole('button', { name: /^Replay 1$/ })
          .isVisible();
      });
      await dialog(page)
        .getByRole('button', { name: /^Replay 1$/ })
        .click();
      await dialog(page).getByText('All delivered').waitFor();
    },
  ],
  ['a change of a subscription', asksOf('order.assigned', 'Edit')],
  ['a pause', asksOf('order.assigned', 'Pause')],
  [
    'a way back that stops at a test that fails',
    async (page) => {
      await asks('/subscriptions', /^Switch on$/)(page);
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
        .getByRole('checkbox', { name: /^All \d/ })
        .check();
      await dialog(page)
        .getByLabel('URL', { exact: true })
        .fill(receiver.url(`/${randomUUID()}`));
      await dialog(page)
        .getByRole('button', { name: /^Subscribe/ })
        .click();
      await dialog(page)
        .getByRole('button', { name: /^Send a test/ })
        .click();
      await dialog(page)
        .getByText(/^HTTP \d/)
        .first()
        .waitFor();
    },
  ],
  ['the end of a subscription', asksOf('order.assigned', 'Unsubscribe')],
  [
    'a timeline, opened',
    async (page, known) => {
      await to(page, `/timeline?key=${known.order}`);
      await button(page, /given up/).click();
      await page.getByLabel('cURL command', { exact: true }).waitFor();
    },
  ],
  [
    'a timeline of nothing',
    async (page) => {
      await to(page, '/timeline?key=nothing-is-called-so');
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
      await page.getByText('Expires in 12 days').waitFor();
    },
  ],
  [
    'credentials of every kind, before they are put in',
    async (page) => {
      await asks('/credentials', 'Add credentials')(page);
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
