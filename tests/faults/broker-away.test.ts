import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { faultSettings, SLOTS } from '../testing/fault-settings.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { underFault } from '../testing/under-fault.ts';
import { until } from '../testing/until.ts';

const AWAY_MS = 5_000;

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

const broker = () => stack.stack.servers.process('rabbitmq');

const faults = {
  async 'RabbitMQ stopped for 5 s'() {
    await broker().stop();
    await sleep(AWAY_MS);
    await broker().start();
  },
  async 'RabbitMQ killed'() {
    await broker().kill();
    await until('RabbitMQ is back', () => broker().state === 'ready');
  },
};

describe('the line without its broker', () => {
  test.each(Object.entries(faults))(
    'loses nothing, and goes on by itself when it is back: %s',
    async (name, inject) => {
      const balance = await underFault({ name, stack, receiver, inject });
      expect(balance).toMatchObject({ lost: [], withGap: [], forked: [], unseen: [] });
      expect(balance.duplicates).toBeLessThanOrEqual(SLOTS);
      expect(stack.stack.services.map(({ restarts }) => restarts)).toEqual([0, 0, 0, 0]);
    },
    900_000,
  );
});
