import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import { deadShipper } from '../testing/dead-shipper.ts';
import { aFurnishedCarrier } from './furnished.ts';
import { untilLoaded } from './page-checks.ts';
import { to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { operatorToken, receiver, stack } from './stand.ts';

export function operatorOverview(): void {
  describe("the operators' overview", () => {
    test('is their first page, and each of its figures leads to what it counts', async () => {
      const known = await aFurnishedCarrier();
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const leads = [
        ['Failing, last hour', 'Failing', known.name],
        ['Switched off, last 24 hours', 'Switched off', known.path],
        ['Rejected', 'Rejected', 'payload_invalid'],
      ] as const;
      for (const [figure, heading, shown] of leads) {
        await figureOf(page, figure)
          .filter({ hasNotText: /^\D*0\b/ })
          .click();
        await page.getByRole('heading', { name: heading, exact: true }).waitFor();
        await page.getByRole('row').filter({ hasText: shown }).first().waitFor();
        await page.goBack();
      }
      await figureOf(page, 'Switched off').click();
      await page.getByText(/^Switched off since/).waitFor();
      expect(page.url()).toMatch(/switched-off\?since=/);
      await page.goBack();
      await page.getByRole('link', { name: 'those given up' }).click();
      await page.getByRole('row').filter({ hasText: known.name }).first().waitFor();
      expect(page.url()).toContain('status=exhausted');
    });

    test('tells what waits and for whom, and leads to those deliveries', async () => {
      const { client, hung, subscription } = await deadShipper({ stack, receiver, waiting: 2 });
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      const row = page.getByRole('row').filter({ hasText: hung.path });
      await row.filter({ hasText: 'not answering' }).waitFor();
      await row.getByRole('link', { name: '2', exact: true }).click();
      await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
      expect(page.url()).toContain(client.account);
      // Includes deliveries that wait for a later attempt.
      expect(page.url()).toContain('status=waiting%2Cretrying');
      await stack.postgres.query('delete from waybell.deliverer_waiting where subscription = $1', [subscription]);
      hung.answer(200);
    });

    test('says which service does not run, first of all', async () => {
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      const tracker = page.getByRole('row').filter({ hasText: 'location-tracker' });
      await tracker.filter({ hasText: 'running' }).filter({ hasNotText: 'not running' }).waitFor();
      const service = stack.stack.service('location-tracker');
      await service.stop();
      try {
        await until('it is told', async () => {
          await page.getByRole('button', { name: 'Refresh' }).click();
          await untilLoaded(page);
          return page
            .getByRole('list', { name: 'Needs a person' })
            .getByText(/^No location-tracker runs/)
            .isVisible();
        });
        await tracker.getByText('not running').waitFor();
      } finally {
        await service.restart();
      }
    });

    test('is read by row and header also where its tables are stacked', async () => {
      const { page } = await signedIn({ token: await operatorToken(), at: 'operator' });
      await page.setViewportSize({ width: 390, height: 800 });
      const services = page.getByRole('table', { name: 'Services' });
      const row = services.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'deliverer' }) });
      await row.getByRole('cell', { name: /running/ }).waitFor();
      await services.getByRole('columnheader').nth(3).waitFor({ state: 'attached' });
      const cells = await row.getByRole('cell').all();
      const boxes = await Promise.all(cells.map((cell) => cell.boundingBox()));
      const tops = boxes.map((box) => box?.y ?? 0);
      expect(tops).toEqual(tops.toSorted((a, b) => a - b));
      expect(new Set(tops).size).toBe(tops.length);
      await to(page, '/');
    });
  });
}

const figureOf = (page: Page, name: string) =>
  page.locator('.tiles').getByRole('link', { name: new RegExp(`^${name}`) });
