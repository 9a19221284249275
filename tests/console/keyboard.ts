import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { furnish, type Furnished } from './furnished.ts';
import { untilLive } from './places.ts';
import { apiUrl, browser, receiver } from './stand.ts';
import { untilGone, untilReads } from './page-checks.ts';

/** Steps that are allowed on the way to a control: there to end a test that never gets there. */
const MOST_STEPS = 60;

const MENU = 'Actions for order.assigned';

export function keyboard(): void {
  describe('the console by the keyboard alone', () => {
    let known: Furnished;
    let page: Page;
    beforeAll(async () => {
      known = await furnish('Prairie Line Haulage');
    });

    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };

    /** Returns the name of the focused element, approximately as assistive technology has it. */
    const focused = () =>
      page.evaluate(() => {
        const { document } = globalThis as unknown as { document: { activeElement: Focused | null } };
        const at = document.activeElement;
        return at === null ? '' : (at.getAttribute('aria-label') ?? at.id) || (at.labels?.[0] ?? at).textContent.trim();
      });

    const tabTo = async (name: RegExp, key = 'Tab') => {
      for (let step = 0; step < MOST_STEPS; step += 1) {
        await press(key);
        if (name.test(await focused())) return;
      }
      throw new Error(`${MOST_STEPS} times ${key} do not lead to ${name}`);
    };

    const signInByKeys = async () => {
      ({ page } = await browser.newPage({ origin: apiUrl(), timezone: 'Europe/Berlin' }));
      await page.goto('/console');
      await page.getByLabel('Access token').waitFor();
      await tabTo(/^token$/);
      await page.keyboard.type(known.carrier.token);
      await press('Enter');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    };

    const openMenu = async () => {
      await tabTo(/^Subscriptions$/);
      await press('Enter');
      await page.getByRole('button', { name: MENU }).waitFor();
      await tabTo(new RegExp(`^${MENU}$`));
      await press('Enter');
      await page.getByRole('button', { name: 'Unsubscribe' }).waitFor();
    };

    test('signs in, finds an order, opens its delivery and sends it again', async () => {
      receiver.answer(known.path, 200);
      await known.carrier.unsubscribe('order.created');
      await known.carrier.subscribe('order.created', receiver.url(known.path));
      await signInByKeys();
      await press('/');
      expect(await focused()).toMatch(/^Search an order number/);
      await page.keyboard.type(known.order);
      await press('Enter');
      await page.getByRole('button', { name: /given up/ }).waitFor();
      await tabTo(/given up/);
      await press('Enter');
      await page.getByRole('button', { name: 'Resend' }).waitFor();
      await tabTo(/^Resend$/);
      await press('Space');
      await page.getByText('Sent again, as attempt 5.').first().waitFor();
      await page.getByText('resend by hand').waitFor();
      await page.getByRole('article').getByText('delivered').first().waitFor();
    });

    test('keeps the focus in a dialog, and has it back where it was after Escape', async () => {
      await signInByKeys();
      await openMenu();
      await tabTo(/^Edit$/);
      await press('Enter');
      await page.getByRole('dialog').waitFor();
      const inDialog = () => page.locator('dialog :focus').count();
      expect(await inDialog()).toBe(1);
      await press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused()).toBe(MENU);
    });

    test('has the focus back where it was after the button that closes a dialog', async () => {
      await signInByKeys();
      await openMenu();
      await tabTo(/^Unsubscribe$/);
      await press('Enter');
      await page.getByRole('dialog').waitFor();
      await tabTo(/^Cancel$/);
      await press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused()).toBe(MENU);
    });

    test('puts credentials in', async () => {
      await signInByKeys();
      await tabTo(/^Credentials$/);
      await press('Enter');
      await page.getByRole('button', { name: 'Add credentials' }).waitFor();
      await tabTo(/^Add credentials$/);
      await press('Enter');
      await page.getByRole('dialog').waitFor();
      await tabTo(/^Host/);
      await page.keyboard.type('gateway.example.com');
      await tabTo(/^Add headers$/);
      await press('Enter');
      await tabTo(/^Name$/, 'Shift+Tab');
      await page.keyboard.type('X-Api-Key');
      await tabTo(/^Value$/);
      await page.keyboard.type('of-the-keyboard');
      await press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('article', { name: 'gateway.example.com' }).getByText('X-Api-Key').waitFor();
      expect(await focused()).toBe('Add credentials');
    });

    test('skips to the content', async () => {
      await signInByKeys();
      await page.getByRole('button', { name: 'Subscribe' }).waitFor();
      await tabTo(/^Skip to the content$/);
      await press('Enter');
      expect(await focused()).toMatch(/^main/);
      await press('Tab');
      expect(await focused()).toBe('Subscribe');
    });

    test('pauses the feed by p, but not where p is typed', async () => {
      await signInByKeys();
      await tabTo(/^Live$/);
      await press('Enter');
      await untilLive(page);
      await press('p');
      await page.getByText(/^Paused/).waitFor();
      await press('p');
      await untilLive(page);
      await tabTo(/^Filter by action/);
      await press('p');
      await untilGone(page.getByText(/^Paused/));
      await untilReads(() => page.getByLabel('Filter by action').inputValue(), 'p');
    });
  });
}

type Focused = {
  id: string;
  labels?: { textContent: string }[];
  textContent: string;
  getAttribute(name: string): string | null;
};
