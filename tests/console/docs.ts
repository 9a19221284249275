import { describe, expect, test } from '@jest/globals';
import { overhang } from './page-checks.ts';
import { apiUrl, browser } from './stand.ts';

export function docs(): void {
  describe('the page of the API', () => {
    test('shows both documents under its own policy, and asks no other server', async () => {
      const { page, troubles } = await browser.newPage({ origin: apiUrl(), timezone: 'Europe/Berlin' });
      await page.goto('/docs');
      await page.getByRole('heading', { name: 'Quick start' }).waitFor();
      // The address is the browser's, whatever the proxies in between are trusted with.
      await page.getByText(apiUrl(), { exact: true }).waitFor();
      await page.getByText('Subscriptions', { exact: true }).first().click();
      await page.getByText('/v1/subscriptions/{guid}/resume').first().waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('picked');
      await page.getByTestId('search-dialog').getByText('shipper.order.picked_up').first().click();
      await page.getByRole('heading', { name: 'order is picked up' }).first().waitFor();

      await page.getByRole('link', { name: 'Events of upstream' }).click();
      await page.getByRole('heading', { name: 'Waybell events' }).waitFor();
      await page.getByText('shipper.order.picked_up', { exact: true }).first().click();
      await page.getByText('Published when order is picked up.').first().waitFor();
      for (const width of [390, 1_280]) expect(await overhang(page, width)).toBe(0);

      await page.getByRole('link', { name: 'Where callbacks come from' }).click();
      await page.getByRole('heading', { name: 'Callbacks' }).waitFor();
      expect(troubles).toEqual([]);
    });
  });
}
