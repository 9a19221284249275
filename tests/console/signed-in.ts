import type { Page } from 'playwright-core';
import type { OpenPage } from '../testing/browser.ts';
import { apiUrl, browser, operatorsUrl } from './stand.ts';

type Opened = { at?: 'client' | 'operator'; timezone?: string };

/** The console, where nobody has signed in: on the client's listener unless said otherwise. */
export const signedOut = async ({ at = 'client', timezone = 'Europe/Berlin' }: Opened = {}): Promise<OpenPage> =>
  browser.wipedPage({ origin: at === 'client' ? apiUrl() : operatorsUrl(), timezone, path: '/console/' });

/** The same with somebody signed in by this token. */
export async function signedIn({ token, ...opened }: Opened & { token: string }): Promise<OpenPage> {
  const console = await signedOut(opened);
  await signInBy(console.page, token);
  return console;
}

export async function signInBy(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

export const expectSignedInAs = (page: Pick<Page, 'locator'>, account: string) =>
  page.locator('.who').getByTitle(account).waitFor();
