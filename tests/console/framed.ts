import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { aLink } from './console-link.ts';
import { anAccount, apiUrl, browser, operatorsUrl, operatorToken, receiver } from './stand.ts';

export function framed(): void {
  describe('a link to the console', () => {
    test('signs in once, leaves no code in an address, and says so to those who come later', async () => {
      const { account } = await anAccount('carrier');
      const link = await aLink(account);
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await page.goto(`${link}/catalog?action=order.created`);
      await page.getByRole('heading', { name: 'order.created' }).first().waitFor();
      expect(page.url()).toBe(`${apiUrl()}/console/#/catalog?action=order.created`);
      expect(await page.evaluate('history.length')).toBe(2);
      await page.reload();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      const late = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await late.page.goto(link);
      await late.page.getByRole('alert').filter({ hasText: 'opened before, or its time is over' }).waitFor();
      await late.page.getByLabel('Access token').waitFor();
      expect(late.page.url()).not.toContain('link=');
      await late.untilTrouble(/^console .*410/);
    });

    test('put into the address of an open console changes whose it is', async () => {
      const [one, other] = [await anAccount('carrier'), await anAccount('carrier')];
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await page.goto(await aLink(one.account));
      await expectSignedInAs(page, one.account);
      await page.goto(await aLink(other.account));
      await expectSignedInAs(page, other.account);
    });

    test('that does not open leaves in nobody who was signed in before', async () => {
      const [one, other] = [await anAccount('carrier'), await anAccount('carrier')];
      const { page, untilTrouble } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await page.goto(await aLink(one.account));
      await expectSignedInAs(page, one.account);
      const taken = await aLink(other.account);
      const code = taken.replace(/.*#link=/, '');
      await fetch(`${apiUrl()}/v1/console-sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
      await page.goto(taken);
      await page.getByRole('alert').filter({ hasText: 'opened before' }).waitFor();
      await page.reload();
      await page.getByLabel('Access token').waitFor();
      expect(await page.locator('.who').count()).toBe(0);
      await untilTrouble(/^console .*410/);
    });

    test('made by an operator over HTTP opens it too', async () => {
      const { account } = await anAccount('shipper');
      const made = await fetch(`${operatorsUrl()}/v1/admin/accounts/${account}/console-links`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await operatorToken()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ scopes: ['webhooks:write', 'webhooks:read'], expires_in: '5m' }),
      });
      const { path } = (await made.json()) as { path: string };
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await page.goto(path);
      await expectSignedInAs(page, account);
    });
  });

  describe('a page of the platform that shows the console in a frame', () => {
    test('shows it, signed in by a link, if its origin is among the parents', async () => {
      const { account } = await anAccount('carrier');
      const { page } = await parentPage(receiverOrigin(), apiUrl() + (await aLink(account)));
      const frame = page.frameLocator('iframe');
      await expectSignedInAs(frame, account);
      await frame.getByRole('link', { name: 'Catalog', exact: true }).click();
      await frame.getByRole('heading', { name: 'Catalog' }).waitFor();
      expect(await frame.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
      expect(page.url()).not.toContain('link=');
    });

    test('shows it where the browser keeps nothing for frames', async () => {
      const { account } = await anAccount('carrier');
      const { page } = await parentPage(receiverOrigin(), apiUrl() + (await aLink(account)), withoutStorage);
      const frame = page.frameLocator('iframe');
      await expectSignedInAs(frame, account);
    });

    test.each([
      ['of another origin', () => receiverOrigin().replace('127.0.0.1', 'localhost'), apiUrl],
      ['of the console of operators', receiverOrigin, operatorsUrl],
    ])('is not shown it: %s', async (_, origin, framedUrl) => {
      const { page, untilTrouble } = await parentPage(origin(), `${framedUrl()}/console/`);
      await untilTrouble(/^failed .*ERR_BLOCKED_BY_RESPONSE/);
      expect(await page.frameLocator('iframe').getByLabel('Access token').count()).toBe(0);
    });
  });
}

const expectSignedInAs = (page: Pick<Page, 'locator'>, account: string) =>
  page.locator('.who').getByTitle(account).waitFor();

const receiverOrigin = (): string => new URL(receiver.url('/')).origin;

/** A page at that origin with a frame that shows the address. */
async function parentPage(origin: string, framedUrl: string, before: () => void = () => undefined) {
  const path = `/${randomUUID()}`;
  receiver.answer(path, (response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><link rel="icon" href="data:,"><iframe src="${framedUrl}" width="900" height="700"></iframe>`,
      ),
  );
  const opened = await browser.newPage({ origin, timezone: 'UTC', issuer: framedUrl });
  await opened.page.addInitScript(before);
  await opened.page.goto(path);
  return opened;
}

/** Behaves like a browser that forbids sites in frames to store anything. */
function withoutStorage(): void {
  for (const name of ['sessionStorage', 'localStorage', 'BroadcastChannel'])
    Object.defineProperty(globalThis, name, {
      get() {
        throw new Error('SecurityError');
      },
    });
}
