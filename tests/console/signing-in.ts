import { describe, expect, test } from '@jest/globals';
import { revokeToken } from '@waybell/subscription-api/tokens';
import type { Page } from 'playwright-core';
import { anAccount, apiUrl, browser, operatorToken, operatorsUrl, stack } from './stand.ts';
import { signedIn } from './signed-in.ts';
import { aLink } from './console-link.ts';
import { kept } from './kept.ts';

/** Pages that a link may lead to. */
const PLACE = '/console/#/catalog?action=order.created';

export function signingIn(): void {
  describe('one who signed in to the console', () => {
    test('stays so over a reload, by what the tab keeps and nothing else does', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await signedIn({ token });
      await page.reload();
      await signOut(page).waitFor();
      const { session, ...others } = await kept(page);
      expect(session).toContain(token);
      expect(others).toEqual({ local: '{}', cookie: '' });
      expect(page.url()).not.toContain(token);
    });

    test('is forgotten by a reload, and by other tabs, where they asked for that', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await page.goto('/console/');
      await page.getByLabel('Forget me').check();
      await signInBy(page, token);
      expect(JSON.stringify(await kept(page))).not.toContain(token);
      const other = await page.context().newPage();
      await other.goto('/console/');
      await other.getByLabel('Access token').waitFor();
      await page.reload();
      await page.getByLabel('Access token').waitFor();
    });

    test('is signed in in each tab that is opened from there, and signed out in all of them by one', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await signedIn({ token });
      const opened = page.context().waitForEvent('page');
      await page.getByRole('link', { name: 'Catalog', exact: true }).click({ modifiers: ['ControlOrMeta'] });
      const tab = await opened;
      await tab.getByRole('heading', { name: 'Catalog', exact: true }).waitFor();
      const third = await page.context().newPage();
      await third.goto(`${apiUrl()}${PLACE}`);
      await signOut(third).click();
      for (const each of [page, tab, third]) {
        await each.getByLabel('Access token').waitFor();
        expect(JSON.stringify(await kept(each))).not.toContain(token);
      }
    });

    test('has tabs of two clients by two links: a tab opened from one is of its client, and they sign out apart', async () => {
      const [one, other] = [await anAccount('carrier'), await anAccount('shipper')];
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      const second = await page.context().newPage();
      await page.goto(await aLink(one.account));
      await expectSignedInAs(page, one.account);
      await second.goto(apiUrl() + (await aLink(other.account)));
      await expectSignedInAs(second, other.account);
      for (const [from, { account }] of [
        [page, one],
        [second, other],
      ] as const) {
        const opened = page.context().waitForEvent('page');
        await from.bringToFront();
        await from.getByRole('link', { name: 'Catalog', exact: true }).click({ modifiers: ['ControlOrMeta'] });
        await expectSignedInAs(await opened, account);
      }
      await signOut(second).click();
      await second.getByLabel('Access token').waitFor();
      await page.reload();
      await expectSignedInAs(page, one.account);
    });

    test('is not signed in at the console of operators', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC', issuer: operatorsUrl() });
      await page.goto('/console/');
      await signInBy(page, token);
      const tab = await page.context().newPage();
      await tab.goto(`${operatorsUrl()}/console/`);
      await tab.getByLabel('Access token').waitFor();
      expect(JSON.stringify(await kept(tab))).not.toContain(token);
    });
  });

  describe('a link to a page of the console leads there', () => {
    test('once one has signed in, on either console', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await page.goto(PLACE);
      await signInBy(page, token);
      await page.getByRole('heading', { name: 'order.created' }).first().waitFor();
      const opened = await browser.newPage({ origin: operatorsUrl(), timezone: 'UTC' });
      await opened.page.goto('/console/#/accounts');
      await signInBy(opened.page, await operatorToken());
      await opened.page.getByRole('heading', { name: 'Accounts' }).waitFor();
      expect(page.url()).toBe(apiUrl() + PLACE);
    });

    test('again, in each tab, once one has signed in where a token was revoked', async () => {
      const { token, account } = await anAccount('carrier');
      const { page, untilTrouble } = await signedIn({ token });
      const tab = await page.context().newPage();
      await tab.goto(`${apiUrl()}${PLACE}`);
      await signOut(tab).waitFor();
      await revokeToken(stack.postgres, token);
      for (const each of [page, tab]) {
        await each.getByRole('link', { name: 'Subscriptions' }).click();
        await each.getByRole('alert').filter({ hasText: 'was revoked' }).waitFor();
      }
      await untilTrouble(/401/);
      const { token: next } = await stack.clientOf(account, 'carrier');
      await signInBy(page, next);
      for (const each of [page, tab]) await each.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    });
  });
}

const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' });

const expectSignedInAs = (page: Page, account: string) => page.locator('.who').getByTitle(account).waitFor();

async function signInBy(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await signOut(page).waitFor();
}
