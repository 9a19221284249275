import { describe, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { carrierOf, expectOn, publicAddress, startAgain, untilServed } from './stand.ts';

const EVENTS = 300;
const PER_SECOND = 20;

type Refuse = (response: ServerResponse, waitS: number) => void;

const REFUSALS: [string, Refuse][] = [
  ['429 and nothing more', (response) => response.writeHead(429).end()],
  ['503 and nothing more', (response) => response.writeHead(503).end()],
  ['429 and the seconds to wait', (response, waitS) => response.writeHead(429, { 'retry-after': String(waitS) }).end()],
  [
    '429 and the time to come back',
    (response, waitS) => {
      const at = new Date(wallClockMs() + waitS * 1_000).toUTCString();
      response.writeHead(429, { 'retry-after': at }).end();
    },
  ],
];

export function crowdedReceivers(): void {
  describe(`a receiver that takes ${PER_SECOND} a second, and ${EVENTS} events at once,`, () => {
    test.each(REFUSALS)('gets all of them and stays on: it answers others with %s', async (_, refuse) => {
      await startAgain('deliverer');
      const carrier = await carrierOf(publicAddress(27));
      let second = 0;
      let count = 0;
      carrier.answer((response, { at }) => {
        const now = Math.floor(at / 1_000);
        if (now !== second) [second, count] = [now, 0];
        count += 1;
        if (count > PER_SECOND) refuse(response, 1);
        else response.writeHead(200).end();
      });
      for (let sent = 0; sent < EVENTS; sent += 1) await carrier.hear();
      await untilServed([carrier], EVENTS);
      await expectOn([carrier]);
    });
  });
}
