import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { dialog } from './places.ts';

/** The text of a page, and the values of its fields. */
type Kept = {
  document: {
    cookie: string;
    documentElement: { outerHTML: string };
    querySelectorAll(what: string): { value: string }[];
  };
  localStorage: object;
  sessionStorage: object;
  location: { href: string };
  history: { state: unknown };
};

/** None of these is in the page, once its dialog is closed, nor anywhere that a page can keep something. */
export async function expectNowhere(page: Page, secrets: readonly string[]): Promise<void> {
  await dialog(page).waitFor({ state: 'detached' });
  const kept = await page.evaluate(() => {
    const { document, localStorage, sessionStorage, location, history } = globalThis as unknown as Kept;
    const fields = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
    const { cookie, documentElement } = document;
    return JSON.stringify([
      cookie,
      documentElement.outerHTML,
      fields,
      localStorage,
      sessionStorage,
      location.href,
      history.state,
    ]);
  });
  expect(secrets.filter((each) => kept.includes(each))).toEqual([]);
}
