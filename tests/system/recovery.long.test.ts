import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { DEAD_ACTION, deadShipper } from '../testing/dead-shipper.ts';
import { hang } from '../testing/hang.ts';
import { waitingOf } from '../testing/put-by-hand.ts';
import { PATIENT_BUT_WITH_CARRIERS } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';

const WAITING = 100_000;
const HEARD = 40;
const HUNG_FOR_MS = 8_000;
const RECOVERED_WITHIN_MS = 5_000;

const stack = shared(() => TestStack.start(PATIENT_BUT_WITH_CARRIERS));
const receiver = shared(() => Receiver.start());

test(`a carrier that hung for 8 s has all of its own within 5 s, beside ${WAITING} that wait for a dead shipper`, async () => {
  const dead = await deadShipper({ stack, receiver, waiting: WAITING });
  const carrier = await stack.client('carrier');
  const hung = hang(receiver, '/carrier');
  await carrier.subscribe('order.created', receiver.url(hung.path));
  for (let count = 0; count < HEARD; count += 1) await carrier.hear('order.created');
  await until('it hangs', () => hung.open() > 0);
  await sleep(HUNG_FOR_MS);

  const recoveredAt = performance.now();
  hung.answer(200);
  const lastAt = await until('all of them have come', () => {
    const answered = receiver.at(hung.path).filter((each) => each.answered === 200);
    const first = Map.groupBy(answered, ({ headers }) => headers['webhook-id']);
    return first.size === HEARD && Math.max(...[...first.values()].map(([each]) => each?.at ?? Infinity));
  });
  expect(lastAt - recoveredAt).toBeLessThan(RECOVERED_WITHIN_MS);
  expect(await waitingOf(stack.postgres, dead.subscription)).toBeGreaterThan(WAITING / 2);
  await dead.client.unsubscribe(DEAD_ACTION);
  dead.hung.answer(500);
});
