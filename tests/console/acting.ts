import { describe, expect, test } from '@jest/globals';
import { to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, operatorToken, subscribed } from './stand.ts';

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

    test('of a name that no address can have, and is shown the way to others', async () => {
      const { account } = await anAccount('carrier');
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await to(page, `/clients/${account}/%zz/subscriptions`);
      await page.getByText('There is no such page.').waitFor();
      await page.getByRole('navigation').getByRole('link', { name: 'Accounts' }).click();
      await page.getByRole('heading', { name: 'Accounts' }).waitFor();
      expect(page.url()).toContain('#/accounts');
    });
  });
}
