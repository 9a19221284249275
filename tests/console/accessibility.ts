import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { axeViolations } from '../testing/axe-violations.ts';
import { browser, receiver } from './stand.ts';

/** Returns axe-core's findings on a page with this body, whose policy allows only its own scripts. */
async function violationsOf(html: string): Promise<string[]> {
  const path = `/${randomUUID()}`;
  const { origin } = new URL(receiver.url(path));
  const headers = { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'; script-src 'self'" };
  receiver.answer(path, (response) => response.writeHead(200, headers).end(html));
  const { page } = await browser.newPage({ origin, timezone: 'UTC' });
  await page.goto(path);
  return axeViolations(page);
}

export function accessibility(): void {
  describe('axeViolations', () => {
    test('tells what stands in the way of a reader, and where, under a strict policy', async () => {
      const html = '<!doctype html><html lang="en"><title>A page</title><input id="nameless"><a href="/x"></a>';
      expect(await violationsOf(html)).toEqual([
        'label: Form elements must have labels: #nameless',
        'link-name: Links must have discernible text: a',
      ]);
    });

    test('finds nothing on a page that all can read', async () => {
      const html = '<!doctype html><html lang="en"><title>A page</title><label>Name <input></label>';
      expect(await violationsOf(html)).toEqual([]);
    });
  });
}
