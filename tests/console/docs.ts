import { describe, expect, test } from '@jest/globals';
import { apiUrl, browser } from './stand.ts';

export function docs(): void {
  describe('the page of the API', () => {
    test('finds a webhook by a word of it', async () => {
      const { page, troubles } = await browser.newPage({ origin: apiUrl(), timezone: 'Europe/Berlin' });
      await page.goto('/docs');
      const webhook = (name: string) => page.locator('.opblock').filter({ hasText: name }).first();
      await webhook('shipper.order.created').waitFor();
      await page.getByLabel('Search endpoints and webhooks').fill('picked');
      await webhook('shipper.order.created').waitFor({ state: 'detached' });
      await webhook('shipper.order.picked_up').waitFor();
      expect(troubles).toEqual([]);
    });

    test("is read in the reader's language and timezone", async () => {
      const { page } = await browser.newPage({ origin: apiUrl(), timezone: 'Asia/Kolkata' });
      await page.goto('/docs');
      const read = await page.evaluate(() => new Date(0).toLocaleString());
      expect(read).toBe('01/01/1970, 05:30:00');
    });
  });
}
