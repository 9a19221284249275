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
  });
}
