import { describe, expect, test } from '@jest/globals';
import { revokeToken } from '@waybell/subscription-api/tokens';
import type { Page } from 'playwright-core';
import { aLink } from './console-link.ts';
import { kept } from './kept.ts';
import { expectSignedInAs, signedOut, signInBy } from './signed-in.ts';
import { anAccount, apiUrl, browser, operatorToken, operatorsUrl, stack } from './stand.ts';

/** Pages that a link may lead to. */
const PLACE = '/console/#/catalog?action=order.created';

export function signingIn(): void {
  describe('one who signed in to the console', () => {
    test('stays so over a reload, in each tab that is opened, and at no console of operators, until one tab signs all out', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC', others: [operatorsUrl()] });
      await page.goto('/console');
      await signInBy(page, token);
      await page.reload();
      await signOut(page).waitFor();
      const { session, ...others } = await kept(page);
      expect(session).toContain(token);
      expect(others).toEqual({ local: '{}', cookie: '' });
      expect(page.url()).not.toContain(token);
      const opened = page.context().waitForEvent('page');
      await page.getByRole('link', { name: 'Catalog', exact: true }).click({ modifiers: ['ControlOrMeta'] });
      const tab = await opened;
      await tab.getByRole('heading', { name: 'Catalog', exact: true }).waitFor();
      const third = await page.context().newPage();
      await third.goto(`${operatorsUrl()}/console/`);
      await third.getByLabel('Access token').waitFor();
      expect(JSON.stringify(await kept(third))).not.toContain(token);
      await third.goto(`${apiUrl()}${PLACE}`);
      await signOut(third).click();
      for (const each of [page, tab, third]) {
        await each.getByLabel('Access token').waitFor();
        expect(JSON.stringify(await kept(each))).not.toContain(token);
      }
    });

    test('is forgotten by a reload, and by other tabs, where they asked for that', async () => {
      const { token } = await anAccount('carrier');
      const { page } = await signedOut();
      await page.getByLabel('Forget me').check();
      await signInBy(page, token);
      expect(JSON.stringify(await kept(page))).not.toContain(token);
      const other = await page.context().newPage();
      await other.goto('/console/');
      await other.getByLabel('Access token').waitFor();
      await page.reload();
      await page.getByLabel('Access token').waitFor();
    });

    test('has tabs of two clients by two links: a tab opened from one is of its client, and they sign out apart', async () => {
      const [one, other] = [await anAccount('carrier'), await anAccount('shipper')];
      const { page } = await signedOut();
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
  });

  test('a link to a page of the console leads there once one has signed in, on either console, and again in each tab after a token was revoked', async () => {
    const { token, account } = await anAccount('carrier');
    const { page, untilTrouble } = await signedOut();
    await page.goto(PLACE);
    await page.reload();
    await signInBy(page, token);
    await page.getByRole('heading', { name: 'order.created' }).first().waitFor();
    expect(page.url()).toBe(apiUrl() + PLACE);
    const operators = await signedOut({ at: 'operator' });
    await operators.page.goto('/console/#/accounts');
    await operators.page.reload();
    await signInBy(operators.page, await operatorToken());
    await operators.page.getByRole('heading', { name: 'Accounts' }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${apiUrl()}${PLACE}`);
    await signOut(tab).waitFor();
    await revokeToken(stack.postgres, token);
    for (const each of [page, tab]) {
      await each.getByRole('link', { name: 'Subscriptions' }).click();
      await each
        .getByRole('alert')
        .filter({ hasText: /was revoked\.$/ })
        .waitFor();
    }
    await untilTrouble(/401/);
    const { token: next } = await stack.clientOf(account, 'carrier');
    await signInBy(page, next);
    for (const each of [page, tab]) await each.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  });
}

const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' });
