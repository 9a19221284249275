import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createAccount } from '@waybell/subscription-api/accounts';
import { ask } from '../testing/told.ts';
import { anExhausted, aRouted } from '@waybell/delivery-log/testing/log-stand';
import { namedCarrier } from './furnished.ts';
import { openLog } from './log-of-stand.ts';
import { to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { counting } from './steps.ts';
import { anAccount, operatorToken, receiver, stack, subscribed } from './stand.ts';

const DAY_MS = 86_400_000;
const MOST_STEPS = 4;

export function operatorSearch(): void {
  describe('the search of operators', () => {
    test('leads by the name of an account to its page, with the ways to the pages of its clients', async () => {
      const carrier = await namedCarrier('Bluestem Carriers');
      await subscribed(carrier, 'order.created');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await page.getByRole('searchbox').first().fill('bluestem carr');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Bluestem Carriers' }).waitFor();
      expect(page.url()).toContain(`#/accounts/${carrier.account}`);
      const row = page.getByRole('table', { name: 'Clients' }).getByRole('row').filter({ hasText: 'default' });
      await row.getByRole('link', { name: 'Subscriptions' }).click();
      await page.getByText('Acting for').waitFor();
      await page.getByText('order.created').first().waitFor();
      expect(page.url()).toContain(`#/clients/${carrier.account}/default/subscriptions`);
    });

    test('lists what a text may mean, and each match leads to it', async () => {
      for (const name of ['Twin Forks East', 'Twin Forks West'])
        await createAccount(stack.postgres, { interface: 'carrier', name });
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, '/why?text=twin%20forks');
      const matches = page.getByRole('table', { name: 'Matches' });
      await matches.getByRole('row').filter({ hasText: 'Twin Forks East' }).waitFor();
      await matches.getByRole('link', { name: 'Twin Forks West' }).click();
      await page.getByRole('heading', { name: 'Twin Forks West' }).waitFor();
      expect(page.url()).toContain('#/accounts/');
    });

    test.each(['PO 12/2026-A', '..', 'x/../y', '100%', 'a+b', 'a#b', '%2F'])(
      'finds order %s by its own number',
      async (number) => {
        const carrier = await anAccount('carrier');
        await carrier.hear('order.created', { payload: { id: 1, number, status: 'new' } });
        await until('the log has it', async () => {
          const path = `/v1/timeline?${new URLSearchParams({ key: number }).toString()}`;
          return (await ask<{ objects: unknown[] }>(carrier, path)).objects.length > 0;
        });
        const { page } = await signedIn({ token: carrier.token });
        await page.getByRole('searchbox').first().fill(number);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: `Timeline of ${number}` }).waitFor();
        await page.getByText('order.created').first().waitFor();
        await page.reload();
        await page.getByText('order.created').first().waitFor();
        // A link of before.
        await page.evaluate("location.hash = '#/timeline/4711'");
        await page.getByRole('heading', { name: 'Timeline of 4711' }).waitFor();
        expect(page.url()).toContain('#/timeline?key=4711');
      },
    );

    test('finds a subscription by the first digits of its guid and by its URL', async () => {
      const carrier = await namedCarrier('Short Guid Lines');
      const { path, subscription } = await subscribed(carrier, 'order.created');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      for (const text of [subscription.slice(0, 8), receiver.url(path)]) {
        await page.getByRole('searchbox').first().fill(text);
        await page.keyboard.press('Enter');
        await page
          .getByRole('region', { name: `Subscription ${subscription}` })
          .getByText(path)
          .waitFor();
        expect(page.url()).toContain(`#/why?${new URLSearchParams({ text }).toString()}`);
        await to(page, '/');
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
      }
    });
  });

  describe('an operator sees what a client missed yesterday', () => {
    test(`in at most ${MOST_STEPS} steps`, async () => {
      const carrier = await namedCarrier('Missouri Breaks Transit');
      const { subscription } = await subscribed(carrier, 'order.assigned');
      await missedYesterday(carrier.account, subscription);
      const opened = await signedIn({ token: await operatorToken(), at: 'operator' });
      const { page, count } = counting(opened.page);
      await page.getByRole('searchbox').first().fill('missouri breaks');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Missed' }).click();
      await page.getByRole('button', { name: 'Yesterday' }).click();
      await page.getByRole('row').filter({ hasText: 'order.assigned' }).waitFor();
      expect(count()).toBeLessThanOrEqual(MOST_STEPS);
    });
  });
}

/** Writes into the log that a delivery was given up at noon of the day before. */
async function missedYesterday(account: string, subscription: string): Promise<void> {
  await using log = await openLog();
  const at = wallClockMs() - DAY_MS;
  await stack.postgres.query(`update waybell.subscriptions set created_at = $2 where guid = $1`, [
    subscription,
    new Date(at - DAY_MS),
  ]);
  await log.partitions.ensure([at]);
  const event = randomUUID();
  const delivery = messageGuid(event, subscription);
  const what = { event, action: 'order.assigned', at } as const;
  const deliveries = [{ delivery, subscription, account, client: 'default' }];
  await log.write([
    aRouted({ ...what, receivers: [account], deliveries }),
    anExhausted({ ...what, delivery, subscription, at: at + 1_000, beganAt: at + 500 }),
  ]);
}
