import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeViolations } from '../testing/axe-violations.ts';

const HEIGHT = 800;

/** The needed part of a browser's global. */
type PageGlobal = { document: { documentElement: { scrollWidth: number } }; innerWidth: number };

/** Waits until nothing is being loaded any more. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.locator('.spinner').first().waitFor({ state: 'detached' });
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
