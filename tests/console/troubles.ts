import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { browser, receiver } from './stand.ts';

/** A page of the receiver with that in its body. */
async function pageWith(html: string, { timezone = 'UTC', headers = {} } = {}) {
  const path = `/${randomUUID()}`;
  const address = new URL(receiver.url(path));
  receiver.answer(path, (response) => {
    const all = { 'content-type': 'text/html', ...headers };
    response.writeHead(200, all).end(`<!doctype html><link rel=icon href=data:,>${html}`);
  });
  const opened = await browser.newPage({ origin: address.origin, timezone });
  await opened.page.goto(path);
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
    test("is read in the reader's language and timezone", async () => {
      const { page } = await pageWith('<p>here</p>', { timezone: 'Asia/Kolkata' });
      expect(await page.evaluate(() => new Date(0).toLocaleString())).toBe('01/01/1970, 05:30:00');
    });

    test.each([
      ['an error in the console', () => '<script>console.error("so I say")</script>', /^console so I say/],
      ['an answer of 404', () => '<img src="/nowhere">', /^console .*404.*\/nowhere/],
      ['an error that nothing caught', () => '<script>throw new Error("mine")</script>', /^error mine/],
      ['a promise that nothing caught', () => '<script>Promise.reject(new Error("late"))</script>', /^error late/],
      ['a request to another origin', () => `<img src="${foreignAddress()}">`, /^foreign http:\/\/localhost:/],
      ['a socket to another origin', () => '<script>new WebSocket("ws://localhost:9")</script>', /^foreign ws:/],
      ['a request without an answer', () => `<img src="${brokenAddress()}">`, /^failed .*net::ERR_EMPTY_RESPONSE/],
      ['a dialog', () => '<script>alert("out there")</script>', /^dialog alert out there/],
    ])('has %s among its troubles, and closing it fails', async (_, html, like) => {
      const opened = await pageWith(html());
      // Not by waiting for it, which would be to expect it.
      await opened.page.waitForLoadState();
      await expect(opened[Symbol.asyncDispose]()).rejects.toThrow('the page had troubles');
      expect(opened.troubles).toContainEqual(expect.stringMatching(like));
    });

    test('has what its policy refuses among them, once', async () => {
      const headers = { 'content-security-policy': "default-src 'self'; img-src 'self' data:" };
      const opened = await pageWith(`<img src="${foreignAddress()}">`, { headers });
      await opened.untilTrouble(/^policy img-src http:\/\/localhost:/);
      await opened.untilTrouble(/^foreign http:\/\/localhost:/);
      await opened[Symbol.asyncDispose]();
      expect(opened.troubles).toHaveLength(2);
    });

    test('closes well where a trouble was waited for', async () => {
      const opened = await pageWith('<script>setTimeout(() => console.error("expected"))</script>');
      expect(await opened.untilTrouble(/^console expected/)).toContain('expected');
      await expect(opened[Symbol.asyncDispose]()).resolves.toBeUndefined();
    });

    test('has no trouble where requests are called off', async () => {
      const { page, troubles: seen } = await pageWith('<p>here</p>');
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
  });
}
