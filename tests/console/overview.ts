import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { ask } from '../testing/told.ts';
import { hang } from '../testing/hang.ts';
import { aFurnishedCarrier, untilStatus } from './furnished.ts';
import { choose, dialog, rowOf, to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, receiver, stack, subscribed } from './stand.ts';
import { switchedOff } from './switched-off.ts';
import { untilGone, untilReads } from './page-checks.ts';

export function overview(): void {
  describe('the overview of a client', () => {
    test('tells first what is off and why, then counts that lead to what they count', async () => {
      const { carrier, delivery, path } = await aFurnishedCarrier();
      const { page } = await signedIn({ token: carrier.token });
      const attention = page.getByRole('table', { name: 'Subscriptions that need attention' });
      await attention.getByText(path).waitFor();
      await attention.getByText(/: a delivery was given up$/).waitFor();
      await untilReads(() => attention.getByRole('rowheader').count(), 1);
      const day = page.getByRole('region', { name: 'Last 24 hours' });
      const leads = async (name: string) => day.getByRole('link', { name }).getAttribute('href');
      expect(await leads('1 given up')).toMatch(/#\/deliveries\?status=exhausted%2Cdropped&since=/);
      // Attempts, which no list has.
      await day.getByText('retried', { exact: true }).waitFor();
      await untilGone(day.getByRole('link', { name: 'retried' }));
      expect(await leads('1 delivered')).toMatch(/#\/deliveries\?status=delivered&since=/);
      expect(await leads('1 not sent')).toMatch(/#\/missed\?since=/);
      const missing = page.getByRole('table', { name: 'Not delivered' });
      await missing.getByText(/^HTTP 500/).waitFor();
      await missing.getByRole('link').first().click();
      await page.getByRole('article', { name: `Delivery ${delivery}` }).waitFor();
    });

    test('tells which subscriptions fail now, and leads to what will be tried again', async () => {
      const shipper = await anAccount('shipper');
      const { subscription } = await subscribed(shipper, 'order.paid', 503);
      const { subscription: other } = await subscribed(shipper, 'order.invoiced');
      const { guid } = await shipper.hear('order.paid');
      await until('it is retried', async () => {
        const path = `/v1/deliveries/${messageGuid(guid, subscription)}`;
        return (await ask<{ object: { status: string } }>(shipper, path)).object.status === 'retrying';
      });
      const { page } = await signedIn({ token: shipper.token });
      const row = rowOf(page, 'order.paid');
      await row.getByText(': HTTP 503').waitFor();
      await row.getByText(/^↻ retrying$/).waitFor();
      const link = row.getByRole('link', { name: '1 retrying' });
      await untilReads(
        () => link.getAttribute('href'),
        expect.stringContaining(`#/deliveries?status=retrying&subscription=${subscription}`),
      );
      expect(await page.content()).not.toContain(other);
    });

    test('tells what waits for a receiver that does not answer, in place of that all is well', async () => {
      const shipper = await anAccount('shipper');
      const hung = hang(receiver, `/${shipper.account}`);
      await shipper.subscribe('order.paid', receiver.url(hung.path));
      const { guid } = await shipper.hear('order.paid');
      await until('it is asked and does not answer', () => hung.open() > 0);
      await until('the log has it, made a minute ago', async () => {
        const made = `update delivery_log.events set at = at - interval '1 minute' where event = $1`;
        return ((await stack.postgres.query(made, [guid])).rowCount ?? 0) > 0;
      });
      const { page } = await signedIn({ token: shipper.token });
      const row = rowOf(page, 'order.paid');
      await row.getByText(/^1 waiting since /).waitFor();
      await row.getByText(/^… waiting$/).waitFor();
      await page
        .getByRole('region', { name: 'Not delivered' })
        .getByText(/^1 waiting since /)
        .waitFor();
      await untilGone(page.getByText(/got through|Nothing sent yet|none fails/));
      await to(page, '/subscriptions');
      await row.getByText(/^1 waiting since /).waitFor();
      hung.answer(200);
    });

    test('does not say that nothing is wrong while it does not know', async () => {
      const carrier = await anAccount('carrier');
      await subscribed(carrier, 'order.created');
      const { page, untilTrouble } = await signedIn({ token: carrier.token });
      await page.route(/status=(waiting|retrying)/, (route) => route.abort());
      await page.reload();
      await untilTrouble(/status=waiting/);
      await untilTrouble(/status=retrying/);
      await page.getByRole('alert').getByText('No connection').first().waitFor();
      await untilGone(page.getByText(/got through|Nothing sent yet|none fails/));
      await to(page, '/subscriptions');
      await rowOf(page, 'order.created').getByText('not known yet').waitFor();
      await page.unroute(/status=(waiting|retrying)/);
    });

    test('says that nothing is wrong where nothing is', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.created');
      const { page } = await signedIn({ token: carrier.token });
      await page.getByText('Your subscription is active').waitFor();
      await page.getByText('Nothing sent yet, or no longer kept.').waitFor();
      const { guid } = await carrier.hear('order.created', { payload: { id: 1, status: 'new' } });
      await untilStatus(carrier, messageGuid(guid, subscription), 'delivered');
      await page.reload();
      await page.getByText('Every delivery got through.').waitFor();
      await untilGone(page.getByRole('button', { name: /^Test, switch on/ }));
    });

    test('shows who may only read nothing that changes a subscription', async () => {
      const carrier = await anAccount('carrier');
      await switchedOff(carrier, 'order.created');
      const { page } = await signedIn({ token: carrier.tokens.read });
      await rowOf(page, 'order.created').getByText('switched off').waitFor();
      await untilGone(page.getByRole('button', { name: /Subscribe|[Ss]witch on|Actions for/ }));
    });
  });

  describe('the table of subscriptions', () => {
    test('has trouble first, then the rest by action, and is narrowed down by what one types', async () => {
      const carrier = await anAccount('carrier');
      const url = receiver.url(`/${carrier.account}`);
      const offered = await ask<{ action: string }[]>(carrier, '/v1/webhooks/');
      const actions = offered.map(({ action }) => action);
      await switchedOff(carrier, 'order.updated');
      const others = actions.filter((each) => each !== 'order.updated');
      await carrier.call('PUT', '/v1/subscriptions', { callback_url: url, actions: others });
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/subscriptions');
      await choose(page, 'order.picked_up', 'Pause');
      await dialog(page).getByRole('button', { name: 'Pause' }).click();
      await rowOf(page, 'order.picked_up').getByText('deliveries wait').waitFor();
      const rest = others.filter((each) => each !== 'order.picked_up').toSorted();
      expect(await shownActions(page)).toEqual(['order.updated', 'order.picked_up', ...rest]);
      await page.getByLabel('Filter').fill('damage');
      await page.getByText(`2 of ${actions.length}`).waitFor();
      expect(await shownActions(page)).toEqual(['damage.created', 'damage.deleted']);
    });

    test('shows a verification token to who may change subscriptions, on demand', async () => {
      const carrier = await anAccount('carrier');
      const token = await carrier.subscribe('order.created', receiver.url(`/${carrier.account}`));
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/subscriptions');
      await rowOf(page, 'order.created').waitFor();
      expect(await page.content()).not.toContain(token);
      await choose(page, 'order.created', 'Verification token');
      await dialog(page).getByText(token).waitFor();
    });
  });
}

/** The actions by their rows, from the top. */
const shownActions = async (page: Page): Promise<string[]> =>
  (await page.getByRole('rowheader').allTextContents()).map((text) => text.split(' ')[0] ?? '');
