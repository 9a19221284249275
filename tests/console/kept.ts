import type { Page } from 'playwright-core';

/** All that the tab keeps. */
export async function kept(page: Page): Promise<{ local: string; session: string; cookie: string }> {
  return page.evaluate(() => {
    const { localStorage, sessionStorage, document } = globalThis as unknown as Storages;
    return {
      local: JSON.stringify(localStorage),
      session: JSON.stringify(sessionStorage),
      cookie: document.cookie,
    };
  });
}

type Storages = { localStorage: object; sessionStorage: object; document: { cookie: string } };
