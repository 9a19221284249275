import type { Page } from 'playwright-core';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { OpenPage } from '../testing/browser.ts';
import { apiUrl, browser, operatorsUrl } from './stand.ts';

type Opened = { at?: 'client' | 'operator'; timezone?: string };

/** A zone in which it is about noon, so that no test sees a day end: a name of that kind has the sign turned round. */
function noonZone(): string {
  const behind = new Date(wallClockMs()).getUTCHours() - 12;
  return `Etc/GMT${behind < 0 ? behind : `+${behind}`}`;
}

/** The console, where nobody has signed in: on the client's listener unless said otherwise. */
export const signedOut = async ({ at = 'client', timezone = noonZone() }: Opened = {}): Promise<OpenPage> =>
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
