import type { OpenPage } from '../testing/browser.ts';
import { apiUrl, browser, operatorsUrl } from './stand.ts';

type SignIn = { token: string; at?: 'client' | 'operator'; timezone?: string };

/** The console, with somebody signed in by this token: on the client's listener unless said otherwise. */
export async function signedIn({ token, at = 'client', timezone = 'Europe/Berlin' }: SignIn): Promise<OpenPage> {
  const opened = await browser.newPage({ origin: at === 'client' ? apiUrl() : operatorsUrl(), timezone });
  const { page } = opened;
  await page.goto('/console');
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return opened;
}
