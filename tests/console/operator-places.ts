import { asks, button, dialog, openCorrection, to, type Place } from './places.ts';

export const operatorPlaces: Place[] = [
  ['the overview', async (page) => page.getByRole('table', { name: 'Services' }).waitFor()],
  [
    'queues',
    async (page) => {
      await to(page, '/queues');
      await button(page, /^▸? ?All \d+ queues/).click();
    },
  ],
  [
    'failing',
    async (page) => {
      await to(page, '/failing');
      await page.getByText('Where attempts fail most').first().waitFor();
    },
  ],
  [
    'switched off',
    async (page, known) => {
      await to(page, '/switched-off');
      await page.getByText(known.path).first().waitFor();
    },
  ],
  [
    'rejected',
    async (page) => {
      await to(page, '/rejected');
      await page.getByText('payload_invalid').first().waitFor();
    },
  ],
  ['a stop', async (page, known) => asks(`/accounts/${known.carrier.account}`, /^Stop/)(page)],
  [
    'what is stopped',
    async (page, known) => {
      await asks(`/accounts/${known.carrier.account}`, /^Stop/)(page);
      await dialog(page)
        .getByLabel(/^Reason/)
        .fill('the receiver is being moved');
      await dialog(page).getByRole('button', { name: 'Stop' }).click();
      await asks('/stopped', /^Start/)(page);
    },
  ],
  ['a retry', asks('/rejected', /^Retry/)],
  ['a purge', asks('/rejected', /^Purge/)],
  ['a correction', openCorrection],
  [
    'accounts',
    async (page, known) => {
      await to(page, '/accounts');
      await page.getByText(known.name).first().waitFor();
    },
  ],
  ['a new account', asks('/accounts', /^Create/)],
  [
    'an account',
    async (page, known) => {
      await to(page, `/accounts/${known.carrier.account}`);
      await page.getByText('order.assigned').first().waitFor();
      await page.getByRole('table', { name: 'Clients' }).waitFor();
    },
  ],
  [
    'a new token',
    async (page, known) => {
      await asks(`/accounts/${known.carrier.account}`, /^Create/)(page);
      await dialog(page).getByRole('button', { name: 'Create', exact: true }).click();
      await dialog(page).getByText(/^wbl_/).waitFor();
    },
  ],
  ['the end of a token', async (page, known) => asks(`/accounts/${known.carrier.account}`, /^Revoke/)(page)],
  [
    'the audit log',
    async (page) => {
      await to(page, '/audit');
      await page.getByText('Created subscription').first().waitFor();
      await button(page, /Details/)
        .first()
        .click();
    },
  ],
  [
    'why, of an order',
    async (page, known) => {
      await to(page, `/why?text=${known.order}`);
      await button(page, /given up/).click();
      await page.getByText(/^Attempt 4$/).waitFor();
    },
  ],
  [
    'why, of a delivery',
    async (page, known) => {
      await to(page, `/why?text=${known.delivery}`);
      await page
        .getByText(/^Attempt 4$/)
        .first()
        .waitFor();
    },
  ],
  [
    'why, of a subscription',
    async (page, known) => {
      await to(page, `/why?text=${known.subscription}`);
      await page.getByText(known.path).first().waitFor();
    },
  ],
  [
    'why, of an account',
    async (page, known) => {
      await to(page, `/why?text=${known.carrier.account}`);
      await page.getByRole('table', { name: 'Clients' }).waitFor();
    },
  ],
  [
    'why, of several',
    async (page, known) => {
      await to(page, `/why?text=${encodeURIComponent(known.name.slice(0, 8))}`);
      await page
        .getByRole('heading', { name: /matches$|^Prairie Line Haulage$/ })
        .first()
        .waitFor();
    },
  ],
  [
    'why, of nothing',
    async (page, _known, { untilTrouble }) => {
      await to(page, '/why?text=nothing-is-called-so');
      await page.getByText('Nothing found for').waitFor();
      await untilTrouble(/404/);
    },
  ],
];
