import type { Locator } from 'playwright-core';

/** As people read it: without what only breaks lines. */
export const asRead = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** The needed part of a cell, where this runs in the page. */
type Cell = { dataset: { header?: string }; innerText: string };

/** The cells of a row, each beside the header of its column, but for the first, which names the row. */
export async function cellsOf(row: Locator): Promise<Record<string, string>> {
  const cells = await row.locator('td').evaluateAll((all) =>
    // They are elements there.
    (all as unknown as Cell[]).map(({ dataset, innerText }) => [dataset.header ?? '', innerText] as const),
  );
  return Object.fromEntries(cells.map(([header, text]) => [header, asRead(text)]));
}
