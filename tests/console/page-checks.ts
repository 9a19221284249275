import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import { axeViolations } from '../testing/axe-violations.ts';

const HEIGHT = 800;

/** The needed part of a browser's global. */
type PageGlobal = { document: { documentElement: { scrollWidth: number } }; innerWidth: number };

/** Waits until nothing is being loaded any more. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.locator('.spinner').first().waitFor({ state: 'detached' });
}

/** Waits until the page has none of it: a page is drawn a moment after something was done to it. */
export async function untilGone(what: Locator): Promise<void> {
  await what.first().waitFor({ state: 'detached' });
}

/** Waits until what is read of a page equals that, as `toEqual` has it. */
export async function untilReads(read: () => Promise<unknown>, expected: unknown): Promise<void> {
  await until('the page shows it', async () => {
    expect(await read()).toEqual(expected);
    return true;
  });
}

/** Returns by how many pixels the page is wider than its window. */
export async function overhang(page: Page, width: number): Promise<number> {
  await page.setViewportSize({ width, height: HEIGHT });
  return page.evaluate(() => {
    const { document, innerWidth } = globalThis as unknown as PageGlobal;
    return Math.max(0, document.documentElement.scrollWidth - innerWidth);
  });
}

/** Throws where somebody could not read the page as it stands: in light and in dark, on a phone, on a desk and on a wall. */
export async function expectReadable(page: Page): Promise<void> {
  await untilLoaded(page);
  const found: string[] = [];
  for (const width of [390, 1280, 3840]) {
    const wide = await overhang(page, width);
    if (wide > 0) found.push(`at ${width} px it is ${wide} px too wide`);
    if (width > 1280) continue;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await axeViolations(page)).map((line) => `${width} px ${colorScheme}: ${line}`));
    }
  }
  await page.setViewportSize({ width: 1280, height: HEIGHT });
  expect(found).toEqual([]);
}
