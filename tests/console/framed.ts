import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { aLink } from './console-link.ts';
import { expectSignedInAs } from './signed-in.ts';
import { anAccount, apiUrl, browser, operatorsUrl, operatorToken, receiver } from './stand.ts';
import { untilGone } from './page-checks.ts';

export function framed(): void {
  describe('a link to the console', () => {
    test('signs in once, whoever was signed in before, leaves no code in an address, and signs nobody in who comes later', async () => {
      const [one, other] = [await anAccount('carrier'), await anAccount('shipper')];
      const link = await aLink(one.account);
      const { page, untilTrouble } = await browser.newPage({ origin: apiUrl(), timezone: 'UTC' });
      await page.goto(`${link}/catalog?action=order.created`);
      await page.getByRole('heading', { name: 'order.created' }).first().waitFor();
      expect(page.url()).toBe(`${apiUrl()}/console/#/catalog?action=order.created`);
      expect(await page.evaluate('history.length')).toBe(2);
      await page.reload();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await expectSignedInAs(page, one.account);
      await page.goto(await linkByOperator(other.account));
      await expectSignedInAs(page, other.account);
      await page.goto(link);
      await page.getByRole('alert').filter({ hasText: 'opened before, or its time is over' }).waitFor();
      await page.getByLabel('Access token').waitFor();
      expect(page.url()).not.toContain('link=');
      await page.reload();
      await page.getByLabel('Access token').waitFor();
      await untilGone(page.locator('.who'));
      await untilTrouble(/^console .*410/);
    });
  });

  describe('a page of the platform that shows the console in a frame', () => {
    test('shows it, signed in by a link, if its origin is among the parents, also where the browser keeps nothing for frames', async () => {
      const { account } = await anAccount('carrier');
      const { page } = await browser.newPage({ origin: receiverOrigin(), timezone: 'UTC', others: [apiUrl()] });
      await page.goto(parentOf(apiUrl() + (await aLink(account))));
      const frame = page.frameLocator('iframe');
      await expectSignedInAs(frame, account);
      await frame.getByRole('link', { name: 'Catalog', exact: true }).click();
      await frame.getByRole('heading', { name: 'Catalog' }).waitFor();
      await untilGone(frame.getByRole('button', { name: 'Sign out' }));
      expect(page.url()).not.toContain('link=');
      const another = await anAccount('carrier');
      await page.addInitScript(withoutStorage);
      await page.goto(parentOf(apiUrl() + (await aLink(another.account))));
      await expectSignedInAs(frame, another.account);
    });

    test('is not shown it from another origin, nor the console of operators', async () => {
      const origin = receiverOrigin().replace('127.0.0.1', 'localhost');
      const others = [receiverOrigin(), apiUrl(), operatorsUrl()];
      const { page, untilTrouble } = await browser.newPage({ origin, timezone: 'UTC', others });
      for (const [parent, framedUrl] of [
        [origin, apiUrl()],
        [receiverOrigin(), operatorsUrl()],
      ] as const) {
        await page.goto(parent + parentOf(`${framedUrl}/console/`));
        await untilTrouble(new RegExp(`^failed ${framedUrl}.*ERR_BLOCKED_BY_RESPONSE`));
        await untilGone(page.frameLocator('iframe').getByLabel('Access token'));
      }
    });
  });
}

/** The path of a link that an operator made over HTTP. */
async function linkByOperator(account: string): Promise<string> {
  const made = await fetch(`${operatorsUrl()}/v1/admin/accounts/${account}/console-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await operatorToken()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scopes: ['webhooks:write', 'webhooks:read'], expires_in: '5m' }),
  });
  // The shape is the contract's.
  return ((await made.json()) as { path: string }).path;
}

const receiverOrigin = (): string => new URL(receiver.url('/')).origin;

/** The path of a page at the receiver with a frame that shows the address. */
function parentOf(framedUrl: string): string {
  const path = `/${randomUUID()}`;
  receiver.answer(path, (response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><link rel="icon" href="data:,"><iframe src="${framedUrl}" width="900" height="700"></iframe>`,
      ),
  );
  return path;
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
