import { to, type Place } from './places.ts';
import { subscribed } from './stand.ts';

/** The pages of deliveries, and of what was missed, of a client. */
export const deliveryPlaces: Place[] = [
  [
    'deliveries',
    async (page) => {
      await to(page, '/deliveries');
      await page.getByRole('table', { name: 'Deliveries, newest first' }).waitFor();
    },
  ],
  [
    'deliveries by every filter',
    async (page, { subscription, order }) => {
      const filter = `subscription=${subscription}&key=${order}&since=2026-01-01T00:00:00Z&reason=http_5xx`;
      await to(page, `/deliveries?status=exhausted,dropped&action=order.created&${filter}`);
      await page.getByRole('row').nth(1).waitFor();
      await page.getByLabel('From').waitFor();
    },
  ],
  [
    'deliveries, of which none matches',
    async (page) => {
      await to(page, '/deliveries?key=nothing-is-called-so&status=exhausted');
      await page.getByText('No delivery matches').waitFor();
    },
  ],
  [
    'a delivery of which all attempts are open',
    async (page, { delivery }) => {
      await to(page, `/deliveries/${delivery}`);
      for (const attempt of [1, 2, 3]) await page.getByRole('button', { name: `Attempt ${attempt}` }).click();
      await page.getByLabel('Response to attempt 1', { exact: true }).waitFor();
    },
  ],
  [
    'what was missed, previewed',
    async (page, { carrier }) => {
      // The subscription is there since then, and on.
      await subscribed(carrier, 'order.picked_up');
      await to(page, '/missed');
      await page.getByRole('table', { name: 'Missed, by action' }).waitFor();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page
        .getByText(/to replay/)
        .first()
        .waitFor();
    },
  ],
  [
    'what was missed when nothing was',
    async (page) => {
      await to(page, '/missed?since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:01Z');
      await page.getByText('Nothing was missed in this period.').waitFor();
    },
  ],
];

/** The list of deliveries of all accounts. */
export const operatorDeliveryPlaces: Place[] = [
  [
    'deliveries',
    async (page, { name }) => {
      await to(page, '/deliveries');
      await page.getByRole('link', { name }).first().waitFor();
    },
  ],
  [
    'deliveries of an account',
    async (page, { carrier, name }) => {
      await to(page, `/deliveries?account=${carrier.account}&client=default&status=exhausted`);
      await page.getByRole('link', { name }).first().waitFor();
    },
  ],
];
