import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { anOrder } from './furnished.ts';
import { aDeliveredEvent, openLog } from './log-of-stand.ts';
import { button, to, untilLive } from './places.ts';
import { signedIn } from './signed-in.ts';
import { anAccount, subscribed } from './stand.ts';
import { untilReads } from './page-checks.ts';

const MANY = 10_000;
const LOT = 500;
const MOST_ROWS = 200;

export function tenThousand(): void {
  describe('the console holds fewer than 200 rows, and answers a click,', () => {
    test('while a timeline of 10,000 events is read to its end', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.assigned');
      const order = String(anOrder());
      const now = wallClockMs();
      await using log = await openLog();
      await log.partitions.ensure([now]);
      let oldest = '';
      for (let written = 0; written < MANY; written += LOT) {
        const records = Array.from({ length: LOT }, (_none, place) =>
          aDeliveredEvent({ carrier, subscription, action: 'order.assigned', at: now - written - place, order }),
        );
        await log.write(records.flat());
        oldest = records.at(-1)?.[0].event ?? '';
      }
      const { page } = await signedIn({ token: carrier.token });
      await to(page, `/timeline?key=${order}`);
      const rows = page.locator('.long-list li');
      await rows.first().waitFor();
      await countRows(page);
      const last = page.locator(`section[aria-label="order.assigned ${oldest}"]`);
      let known: string | null = null;
      const look = async () => {
        await scrollToEnd(page);
        known = await rows.first().getAttribute('aria-setsize');
        return (await last.count()) > 0;
      };
      await until('the last event is in sight', look, () => known);
      await untilReads(() => rows.last().getAttribute('aria-setsize'), String(MANY));
      await last.getByRole('button').click();
      await page
        .getByRole('article')
        .getByText(/^Attempt 1$/)
        .waitFor();
      expect(await mostRows(page)).toBeLessThan(MOST_ROWS);
    });

    test('while 10,000 things happen', async () => {
      const carrier = await anAccount('carrier');
      const { subscription } = await subscribed(carrier, 'order.assigned');
      await using log = await openLog();
      const { page } = await signedIn({ token: carrier.token });
      await to(page, '/live');
      await untilLive(page);
      await countRows(page);
      const row = page.locator('.long-list li').first();
      const oldest = new Set<string>();
      for (let written = 0; written < MANY; written += LOT) {
        const at = wallClockMs();
        const records = Array.from({ length: LOT }, () =>
          aDeliveredEvent({ carrier, subscription, action: 'order.assigned', at }),
        );
        if (written === 0) for (const [, { delivery }] of records) oldest.add(delivery);
        await log.write(records.flat());
        await until(`${written + LOT} are in the list`, async () => {
          return (await row.getAttribute('aria-setsize', { timeout: 1_000 })) === String(written + LOT);
        });
        await button(page, /^Pause/).click();
        await button(page, /^Resume/).click();
      }
      await scrollToEnd(page);
      const last = page.locator(`li[aria-posinset="${MANY}"] .feed-line`);
      await last.waitFor();
      expect(oldest).toContain(await last.getAttribute('data-guid'));
      expect(await mostRows(page)).toBeLessThan(MOST_ROWS);
      await page.getByLabel('Filter by status').selectOption('failed');
      await page.getByText('Nothing matches these filters.').waitFor();
    });
  });
}

export const scrollToEnd = async (page: Page): Promise<void> =>
  page.locator('.long-list').evaluate((list) => {
    // It runs in the page, where it is an element.
    const frame = list as unknown as { scrollTop: number; scrollHeight: number };
    frame.scrollTop = frame.scrollHeight;
  });

type PageGlobal = {
  mostRows: number;
  document: { querySelectorAll: (selector: string) => { length: number }; body: object };
  MutationObserver: new (look: () => void) => { observe: (node: object, options: object) => void };
};

/** Counts the rows that are in the page whenever it changes. */
async function countRows(page: Page): Promise<void> {
  await page.evaluate(() => {
    const here = globalThis as unknown as PageGlobal;
    const look = () => {
      here.mostRows = Math.max(here.mostRows, here.document.querySelectorAll('li, tr').length);
    };
    here.mostRows = 0;
    look();
    new here.MutationObserver(look).observe(here.document.body, { childList: true, subtree: true });
  });
}

/** The most that there ever were. */
async function mostRows(page: Page): Promise<number> {
  const most = await page.evaluate(() => (globalThis as unknown as PageGlobal).mostRows);
  expect(most).toBeGreaterThan(2);
  return most;
}
