import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { untilStatus } from './furnished.ts';
import { dialog } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, receiver, subscribed } from './stand.ts';
import { counting } from './steps.ts';
import { switchedOff } from './switched-off.ts';
import { untilReads } from './page-checks.ts';

const FOUR = ['order.created', 'order.assigned', 'order.picked_up', 'order.delivered'];
const THREE = ['order.created', 'order.assigned', 'damage.created'];

export function clientTasks(): void {
  describe('from the first page, a client', () => {
    test('subscribes to four actions, and tests each, in 8 steps', async () => {
      const carrier = await anAccount('carrier');
      const path = `/${carrier.account}`;
      const { page, count } = counting((await signedIn({ token: carrier.token })).page);
      await page.getByText('No subscriptions yet.').waitFor();
      await page.getByRole('button', { name: 'Subscribe' }).click();
      for (const action of FOUR) await dialog(page).getByRole('checkbox', { name: action }).check();
      await dialog(page).getByLabel('URL', { exact: true }).fill(receiver.url(path));
      await dialog(page).getByRole('button', { name: 'Subscribe to 4' }).click();
      await dialog(page).getByRole('button', { name: 'Send a test to all 4' }).click();
      for (const action of FOUR)
        await dialog(page).getByRole('listitem', { name: action }).getByText('HTTP 200').waitFor();
      expect(count()).toBeLessThanOrEqual(8);
      const shown = await dialog(page).getByRole('listitem').locator('code').allTextContents();
      const carried = receiver.at(path).map(({ headers }) => String(headers['x-service-verification-token']));
      expect(carried.toSorted()).toEqual(shown.filter((text) => !text.startsWith('HTTP')).toSorted());
      expect(new Set(carried).size).toBe(4);
    });

    test('finds the URL in place that most of its subscriptions have', async () => {
      const carrier = await anAccount('carrier');
      const { path } = await subscribed(carrier, 'order.created');
      await carrier.subscribe('order.assigned', receiver.url(path));
      await subscribed(carrier, 'order.delivered');
      const { page } = await signedIn({ token: carrier.token });
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await untilReads(() => dialog(page).getByLabel('URL', { exact: true }).inputValue(), receiver.url(path));
    });

    test('is back from an outage of three actions in 4 steps: all that was missed arrives', async () => {
      const carrier = await anAccount('carrier');
      const off = await Promise.all(THREE.map(async (action) => switchedOff(carrier, action)));
      for (const { path } of off) receiver.answer(path, 200);
      const { page, count } = counting((await signedIn({ token: carrier.token })).page);
      await page.getByRole('button', { name: 'Test, switch on and replay 3' }).click();
      await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
      for (const action of THREE)
        await dialog(page)
          .getByRole('listitem', { name: action })
          .getByText('2 of 2 replayed · All delivered')
          .waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).last().click();
      await page.getByText('All 3 subscriptions are active').waitFor();
      expect(count()).toBeLessThanOrEqual(4);
      for (const { given, missed, subscription } of off)
        for (const event of [given, missed]) await untilStatus(carrier, messageGuid(event, subscription), 'delivered');
    });

    test('brings back those whose receiver answers, and sees what another answers, which stays off until it says so', async () => {
      const carrier = await anAccount('carrier');
      const [good, bad] = await Promise.all(
        ['order.created', 'order.assigned'].map(async (action) => switchedOff(carrier, action)),
      );
      receiver.answer(good?.path ?? '', 200);
      receiver.answer(bad?.path ?? '', (response) => response.writeHead(418).end('short and stout'));
      const { page } = await signedIn({ token: carrier.token });
      await page.getByRole('button', { name: 'Test, switch on and replay 2' }).click();
      await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
      const [first, second] = ['order.created', 'order.assigned'].map((name) =>
        dialog(page).getByRole('listitem', { name }),
      );
      await first?.getByText('All delivered').waitFor();
      await second?.getByText('short and stout').waitFor();
      await second?.getByRole('link', { name: 'Open delivery' }).waitFor();
      await second?.getByText(/ switched off$/).waitFor();
      await second?.getByRole('button', { name: 'Switch on anyway' }).click();
      await second?.getByText('active').waitFor();
      await untilReads(async () => first?.getByText('All delivered').count(), 1);
    });
  });
}
