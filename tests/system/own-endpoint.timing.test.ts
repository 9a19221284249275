import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { hang } from '../testing/hang.ts';
import { PATIENT_BUT_WITH_CARRIERS } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { tenActions } from '../testing/ten-actions.ts';
import { TestStack } from '../testing/test-stack.ts';

/** When a carrier is asked that fails at once, in seconds after it was asked first, and how far off it may be. */
const SCHEDULE_SECONDS = [0, 1, 3, 7];
const OFF_SECONDS = 0.3;
const TAKES_MS = 2_000;
const LATE_MS = 1_000;

const stack = shared(() => TestStack.start(PATIENT_BUT_WITH_CARRIERS));
const receiver = shared(() => Receiver.start());

describe('while three requests hang at another endpoint of its account', () => {
  test('a carrier that fails at once is asked after 0, 1, 3 and 7 s', async () => {
    const carrier = await stack.client('carrier');
    const hung = hang(receiver, '/hang');
    receiver.answer('/fails', 500);
    await carrier.subscribe('order.created', receiver.url(hung.path));
    await carrier.subscribe('order.assigned', receiver.url('/fails'));
    for (let count = 0; count < 3; count += 1) await carrier.hear('order.created');
    await until('it hangs', () => hung.open() > 0);
    await carrier.hear('order.assigned');
    const requests = await receiver.untilReceived('/fails', SCHEDULE_SECONDS.length);
    const [first] = requests;
    const seconds = requests.map(({ at }) => (at - (first?.at ?? NaN)) / 1_000);
    const off = seconds.map((after, place) => Math.abs(after - (SCHEDULE_SECONDS[place] ?? NaN)));
    expect(off.filter((each) => !(each <= OFF_SECONDS))).toEqual([]);
  });
});

describe('an endpoint that takes 2 s for each of six messages', () => {
  test('has four of them under way at once', async () => {
    const carrier = await stack.client('carrier');
    let [underWay, most] = [0, 0];
    receiver.answer('/slow', (response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(200).end();
      }, TAKES_MS);
    });
    await carrier.subscribe('order.created', receiver.url('/slow'));
    for (let count = 0; count < 6; count += 1) await carrier.hear('order.created');
    await receiver.untilReceived('/slow', 6);
    expect(most).toBeGreaterThanOrEqual(4);
  });
});

describe('a URL that serves ten actions, one of which always hangs', () => {
  test('gets those of the others at most a second late', async () => {
    const shipper = await stack.client('shipper');
    const [hanging = '', ...others] = tenActions;
    const hung = hang(receiver, '/ten', ({ body }) => body.includes(`"${hanging}"`));
    for (const action of tenActions) await shipper.subscribe(action, receiver.url(hung.path));
    await shipper.hear(hanging);
    await until('it hangs', () => hung.open() > 0);
    const late: number[] = [];
    for (const action of others) {
      const before = receiver.at(hung.path).length;
      const publishedAt = performance.now();
      await shipper.hear(action);
      late.push(((await receiver.untilReceived(hung.path, before + 1)).at(-1)?.at ?? NaN) - publishedAt);
    }
    expect(Math.max(...late)).toBeLessThanOrEqual(LATE_MS);
    hung.answer(200);
  });
});
