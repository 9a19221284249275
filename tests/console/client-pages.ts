import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { ask } from '../testing/told.ts';
import { choose, to } from './places.ts';
import { signedIn, signedOut } from './signed-in.ts';
import { anAccount, apiUrl, browser, hostile, HOSTILE_BODY, receiver, subscribed, type Account } from './stand.ts';
import { untilGone, untilReads } from './page-checks.ts';

export function clientPages(): void {
  describe('the console of a client', () => {
    test('loads 200 KB at most until somebody can sign in', async () => {
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      const loaded: Promise<number>[] = [];
      page.on('requestfinished', (request) => {
        loaded.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      });
      await page.goto('/console');
      await page.getByLabel('Access token').waitFor();
      const bytes = (await Promise.all(loaded)).reduce((sum, each) => sum + each, 0);
      expect(bytes).toBeGreaterThan(20_000);
      expect(bytes).toBeLessThanOrEqual(200 * 1_024);
    });

    test('says why a token is refused', async () => {
      const { page, untilTrouble } = await signedOut();
      await page.getByLabel('Access token').fill('wbl_nobody');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'access token' }).waitFor();
      await untilTrouble(/401/);
    });

    test('tells by an order number why a notification did not arrive', async () => {
      const carrier = await anAccount('carrier');
      const { order } = await givenUp(carrier);
      const { page } = await signedIn({ token: carrier.tokens.read });
      await page.getByRole('searchbox').first().fill(String(order));
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /given up/ }).click();
      const delivery = page.getByRole('article');
      await delivery.getByText('the receiver, or a proxy before it, failed').first().waitFor();
      await untilReads(() => delivery.getByText(/^Attempt \d$/).count(), 4);
      // The receiver's answer is text: none of it is a part of the page.
      await delivery.getByLabel('Response to attempt 4').getByText(HOSTILE_BODY).waitFor();
      await untilGone(page.locator('img, iframe, a[href^="javascript:"]'));
      // This token may only read.
      await untilGone(page.getByRole('button', { name: 'Resend' }));
    });

    test('sends a delivery again, and shows how that went', async () => {
      const carrier = await anAccount('carrier');
      const { path, delivery } = await givenUp(carrier);
      receiver.answer(path, 200);
      await carrier.unsubscribe('order.created');
      await carrier.subscribe('order.created', receiver.url(path));
      const { page } = await signedIn({ token: carrier.tokens.both });
      await page.getByRole('searchbox').first().fill(delivery);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Resend' }).click();
      await page.getByText('Sent again, as attempt 5.').first().waitFor();
      await page.getByRole('article').filter({ hasText: 'resend by hand' }).getByText('delivered').first().waitFor();
      expect(receiver.at(path).at(-1)?.headers['x-webhook-attempt']).toBe('5');
    });

    test('sends a test, and shows what the receiver answers', async () => {
      const shipper = await anAccount('shipper');
      const { path } = await subscribed(shipper, 'order.paid', (response) =>
        response.writeHead(418).end('short and stout'),
      );
      const { page } = await signedIn({ token: shipper.token });
      await to(page, '/subscriptions');
      await choose(page, 'order.paid', 'Send a test');
      await page.getByRole('dialog').getByText('HTTP 418').waitFor();
      await page.getByRole('dialog').getByText('short and stout').waitFor();
      expect(receiver.at(path).at(-1)?.headers['x-webhook-test']).toBe('true');
    });
  });
}

let lastOrder = 40_000;

/** A delivery about an order of its own, which a receiver has refused till the end. */
async function givenUp(carrier: Account) {
  const order = (lastOrder += 1);
  const { path, subscription } = await subscribed(carrier, 'order.created', hostile);
  const { guid } = await carrier.hear('order.created', { payload: { id: order, status: 'new' } });
  const delivery = messageGuid(guid, subscription);
  await until('it is given up', async () => {
    const { status } = await ask<{ status: string }>(carrier, `/v1/deliveries/${delivery}`);
    return status === 'exhausted';
  });
  return { path, delivery, order, subscription };
}
