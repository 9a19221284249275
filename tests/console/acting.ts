import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { untilStatus } from './furnished.ts';
import { choose, dialog, rowOf, to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, operatorToken, receiver, subscribed } from './stand.ts';
import { switchedOff } from './switched-off.ts';
import { untilGone } from './page-checks.ts';

export function acting(): void {
  describe('an operator acts for a client', () => {
    test('on the pages of that client, below its own address', async () => {
      const client = await anAccount('carrier');
      const { path } = await subscribed(client, 'order.created');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/clients/${client.account}/default/subscriptions`);
      await page.getByText(path).first().waitFor();
      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(page.url()).toContain(`#/clients/${client.account}/default`);
      await page.getByRole('link', { name: 'Back to the account' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await page.getByRole('navigation').getByRole('link', { name: 'Audit log' }).waitFor();
      await page.goBack();
      await page.getByText('Acting for').waitFor();
    });

    test('and switches on, replays, pauses and subscribes for it, as it would itself', async () => {
      const client = await anAccount('carrier');
      const { path, subscription, given, missed } = await switchedOff(client, 'order.created');
      receiver.answer(path, 200);
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/clients/${client.account}/default/subscriptions`);
      const created = rowOf(page, 'order.created');
      await created.getByRole('button', { name: 'Switch on' }).click();
      await dialog(page).getByRole('button', { name: 'Test, switch on and replay' }).click();
      await dialog(page).getByText('2 of 2 replayed · All delivered').waitFor();
      await dialog(page).getByRole('button', { name: 'Close' }).last().click();
      for (const event of [given, missed]) await untilStatus(client, messageGuid(event, subscription), 'delivered');
      await choose(page, 'order.created', 'Pause');
      await dialog(page).getByRole('button', { name: 'Pause' }).click();
      await created.getByText('deliveries wait').waitFor();
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
      await dialog(page).getByLabel('Search actions').fill('order.updated');
      await dialog(page).getByRole('checkbox', { name: 'order.updated' }).check();
      await dialog(page).getByLabel('URL', { exact: true }).fill(receiver.url(path));
      await dialog(page).getByRole('button', { name: 'Subscribe' }).click();
      await dialog(page).getByRole('listitem').filter({ hasText: 'order.updated' }).getByText('created').waitFor();
    });

    test('of a name that no address can have, and is shown the way to others', async () => {
      const { account } = await anAccount('carrier');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/clients/${account}/%zz/subscriptions`);
      await page.getByText('There is no such page.').waitFor();
      await page.getByRole('navigation').getByRole('link', { name: 'Accounts' }).click();
      await page.getByRole('heading', { name: 'Accounts' }).waitFor();
      expect(page.url()).toContain('#/accounts');
    });

    test('and is led to no page that is closed to operators', async () => {
      const client = await anAccount('carrier');
      const { subscription } = await subscribed(client, 'order.created', 401);
      const { guid } = await client.hear('order.created');
      const delivery = messageGuid(guid, subscription);
      await untilStatus(client, delivery, 'exhausted');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      const place = `/clients/${client.account}/default`;
      await to(page, `${place}/deliveries/${delivery}`);
      await page.getByText('Only the client itself can see and set its credentials.').waitFor();
      await untilGone(page.getByRole('link', { name: /^Credentials|^Secrets/ }));
      for (const closed of ['credentials', 'secrets']) {
        await to(page, `${place}/${closed}`);
        await page.getByText('There is no such page.').waitFor();
      }
    });

    test('and is led back to the accounts from a client that there is not', async () => {
      const { page, untilTrouble } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/clients/${randomUUID()}/default/missed`);
      await untilTrouble(/404/);
      await page.getByRole('link', { name: 'Open accounts' }).click();
      await page.getByRole('heading', { name: 'Accounts', exact: true }).waitFor();
    });
  });
}
