import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Agent, buildConnector, request } from 'undici';
import { boundingResponses } from './bounded-response.ts';
import { httpServer, sayingServer } from './testing/server.ts';

const LIMIT_BYTES = 1_000;

let dispatcher: Agent;
beforeEach(() => {
  dispatcher = new Agent({ connect: boundingResponses(buildConnector({}), LIMIT_BYTES) });
});
afterEach(() => dispatcher.destroy());

describe('boundingResponses', () => {
  test('ends a connection on which more comes than the limit', async () => {
    await using server = await sayingServer('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100_000));
    await expect(request(server.url, { dispatcher })).rejects.toMatchObject({ code: 'RESPONSE_TOO_LONG' });
  });

  test('counts anew for each request over the same connection', async () => {
    await using server = await httpServer((_, response) => response.end('y'.repeat(LIMIT_BYTES / 2)));
    for (let each = 0; each < 10; each += 1) {
      const { body } = await request(server.url, { dispatcher });
      expect(await body.text()).toHaveLength(LIMIT_BYTES / 2);
    }
    // Asked again at once, undici takes a second one, because the first is still busy with its last request.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });
});
