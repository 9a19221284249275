import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** WCAG 2.2, levels A and AA. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const SHOWN = 5;

/** Returns axe-core's findings on the page against WCAG 2.2 AA, a line for each rule: its name, text, and places. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Otherwise it opens a page of its own; there are no frames of other origins.
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).setLegacyMode().analyze();
  return violations.map(({ id, help, nodes }) => {
    const places = nodes.map(({ target }) => target.join(' '));
    const more = places.length > SHOWN ? ` and ${places.length - SHOWN} more` : '';
    return `${id}: ${help}: ${places.slice(0, SHOWN).join(', ')}${more}`;
  });
}
