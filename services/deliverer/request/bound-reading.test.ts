import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { openedByEach } from '@waybell/runtime/testing/shared';
import { httpServer, sayingServer, type TestServer } from '@waybell/runtime/testing/server';
import { openCaller } from '../testing/caller.ts';

const opened = openedByEach();

/** Calls that server, with ample limits. */
async function caller(starting: Promise<TestServer>) {
  const server = await starting;
  const made = openCaller();
  opened.push(server, made);
  return { server, call: () => made.call(server.url) };
}

describe('a receiver that sends more than any receiver needs', () => {
  test.each([
    ['interim answers', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['empty lines', '\r\n'],
  ])('has its connection ended: %s', async (_what, text) => {
    const { call } = await caller(sayingServer(text.repeat(200_000)));
    expect(await call()).toMatchObject({ isDelivered: false, reason: 'invalid_response' });
  });

  test('is not one that answers many requests over one connection', async () => {
    // Bytes are counted while each answer is awaited.
    const answer = 'y'.repeat(60_000);
    const { server, call } = await caller(
      httpServer((_, response) => systemClock.after(150, () => response.end(answer))),
    );
    // Enough requests that each of two connections carries more than one answer may have, with one to spare.
    for (let each = 0; each < 12; each += 1) expect(await call()).toMatchObject({ isDelivered: true });
    // If asked again at once, undici opens a second connection, because the first is still busy with its last request.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });
});
