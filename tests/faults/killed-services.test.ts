import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { faultSettings, SLOTS } from '../testing/fault-settings.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { underFault } from '../testing/under-fault.ts';

let stack: TestStack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await TestStack.start(faultSettings);
  receiver = await Receiver.start();
}, 120_000);

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
}, 120_000);

describe('a service killed under load', () => {
  test.each(['event-router', 'deliverer', 'deactivator', 'subscription-api'])(
    'loses nothing and repeats no more than it had in hand: %s',
    async (name) => {
      const service = stack.stack.service(name);
      const { restarts } = service;
      const balance = await underFault({ name: `${name} killed`, stack, receiver, inject: () => service.kill() });
      expect(balance).toMatchObject({ lost: [], withGap: [], forked: [], unseen: [] });
      expect(balance.duplicates).toBeLessThanOrEqual(name === 'deliverer' ? SLOTS : 0);
      expect(service.restarts).toBe(restarts + 1);
      // Every kind of end was there to be lost.
      expect(Math.min(balance.delivered, balance.exhausted, balance.suppressed, balance.rejected)).toBeGreaterThan(0);
    },
  );
});
