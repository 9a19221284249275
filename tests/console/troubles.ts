import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { browser, receiver } from './stand.ts';

/** The address of a page at the receiver with that in its body. */
function addressWith(html: string, headers = {}): URL {
  const path = `/${randomUUID()}`;
  receiver.answer(path, (response) => {
    const all = { 'content-type': 'text/html', ...headers };
    response.writeHead(200, all).end(`<!doctype html><link rel=icon href=data:,>${html}`);
  });
  return new URL(receiver.url(path));
}

async function pageWith(html: string, headers = {}) {
  const address = addressWith(html, headers);
  const opened = await browser.newPage({ origin: address.origin, timezone: 'Asia/Kolkata' });
  await opened.page.goto(address.href);
  return opened;
}

/** The receiver, which is another origin by this name. */
function foreignAddress(): string {
  const url = new URL(receiver.url(`/${randomUUID()}`));
  url.hostname = 'localhost';
  return url.href;
}

const brokenAddress = (): string => {
  const path = `/${randomUUID()}`;
  const url = receiver.url(path);
  receiver.answer(path, (response) => response.destroy());
  return url;
};

export function troubles(): void {
  describe('a page that a test has opened', () => {
    test("is read in the reader's language and timezone, and has no trouble where requests are called off", async () => {
      const { page, troubles: seen } = await pageWith('<p>here</p>');
      expect(await page.evaluate(() => new Date(0).toLocaleString())).toBe('01/01/1970, 05:30:00');
      const path = `/${randomUUID()}`;
      receiver.url(path);
      receiver.answer(path, () => undefined);
      await page.evaluate((waiting) => {
        const halt = new AbortController();
        void fetch(waiting, { signal: halt.signal }).catch(() => undefined);
        halt.abort();
      }, path);
      expect(seen).toEqual([]);
    });

    test('has each of what went wrong among its troubles, and closing it fails for every one', async () => {
      const all: [html: string, like: RegExp][] = [
        ['<script>console.error("so I say")</script>', /^console so I say/],
        ['<img src="/nowhere">', /^console .*404.*\/nowhere/],
        ['<script>throw new Error("mine")</script>', /^error mine/],
        ['<script>Promise.reject(new Error("late"))</script>', /^error late/],
        [`<img src="${foreignAddress()}">`, /^foreign http:\/\/localhost:/],
        ['<script>new WebSocket("ws://localhost:9")</script>', /^foreign ws:/],
        [`<img src="${brokenAddress()}">`, /^failed .*net::ERR_EMPTY_RESPONSE/],
        ['<script>alert("out there")</script>', /^dialog alert out there/],
      ];
      const opened = await pageWith(all.map(([html]) => html).join(''));
      // Not by waiting for them, which would be to expect them.
      await opened.page.waitForLoadState();
      const [closed] = await Promise.allSettled([opened[Symbol.asyncDispose]()]);
      const failure: unknown = closed.status === 'rejected' ? closed.reason : undefined;
      const [first, ...told] = failure instanceof Error ? failure.message.split('\n  ') : [];
      expect(first).toBe('the page had troubles:');
      for (const [, like] of all) expect(told).toContainEqual(expect.stringMatching(like));
      expect(opened.troubles).toEqual(told);
    });

    test('closes well where its troubles were waited for; what its policy refuses is one of them, once', async () => {
      const headers = { 'content-security-policy': "default-src 'self'; img-src 'self' data:" };
      const opened = await pageWith(`<img src="${foreignAddress()}">`, headers);
      await opened.untilTrouble(/^policy img-src http:\/\/localhost:/);
      await opened.untilTrouble(/^foreign http:\/\/localhost:/);
      await opened.page.goto(addressWith('<script>setTimeout(() => console.error("expected"))</script>').href);
      expect(await opened.untilTrouble(/^console expected/)).toContain('expected');
      await expect(opened[Symbol.asyncDispose]()).resolves.toBeUndefined();
      expect(opened.troubles).toHaveLength(3);
    });

    test('is as new where it was wiped, or is not used again', async () => {
      const page = addressWith('<p>here</p>');
      const wanted = { origin: page.origin, timezone: 'Asia/Kolkata', path: page.pathname };
      const first = await browser.wipedPage(wanted);
      await first.page.evaluate("sessionStorage.setItem('token', 'a'); location.hash = '#/there'; window.mine = true");
      await first.page.route('**/*', async (route) => route.abort());
      await browser.closePages();
      const second = await browser.wipedPage(wanted);
      expect(second).toBe(first);
      expect(await second.page.evaluate('[sessionStorage.length, location.hash, window.mine]')).toEqual([
        0,
        '',
        undefined,
      ]);
      await second.page.evaluate('console.error("mine")');
      await expect(browser.closePages()).rejects.toThrow('console mine');
      expect(await browser.wipedPage(wanted)).not.toBe(first);
    });
  });
}
