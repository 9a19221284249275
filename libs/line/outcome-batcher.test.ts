import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deactivatorQueue } from './topology.ts';
import { readOutcomes, type Outcome } from './outcomes.ts';
import { aLine, numbers } from './testing/a-line.ts';
import { Detour } from './testing/detour.ts';
import { openSockets, TestBroker } from './testing/test-broker.ts';
import { until } from './testing/until.ts';

let broker: TestBroker;
let detour: Detour;

beforeAll(async () => {
  broker = await TestBroker.start();
  detour = await Detour.to(broker.url);
}, 120_000);

afterAll(async () => {
  await detour[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
  await until('every socket is closed', () => openSockets() === 0);
}, 120_000);

beforeEach(async () => {
  await broker.take(deactivatorQueue);
});

const anOutcome = (delivery: string, body = ''): Outcome => ({
  kind: 'exhausted',
  delivery,
  subscription: 's',
  generation: 1,
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  attempt: 4,
  at: 4,
  beganAt: 1,
  answer: { durationMs: 3, status: 500 },
  body,
});

const batches = async () => (await broker.take(deactivatorQueue)).map(({ content }) => readOutcomes(content));

/** Resolves with the batches, once so many records have come. */
const untilRecorded = async (count: number) => {
  const all: Outcome[][] = [];
  await until(`${count} records have come`, async () => {
    all.push(...(await batches()));
    return all.flat().length >= count;
  });
  return all;
};

describe('outcomes', () => {
  test('of many messages travel in few batches, each record once', async () => {
    const line = await aLine(broker, {
      prefetch: 300,
      slots: 300,
      handle: async (body) => [{ kind: 'outcome', outcome: anOutcome(body) }],
    });
    await broker.put(line.input, numbers(300));
    await using running = await line.run();
    const all = await untilRecorded(300);
    expect(all.length).toBeLessThanOrEqual(20);
    expect(Math.max(...all.map((batch) => batch.length))).toBeLessThanOrEqual(100);
    const deliveries = all.flat().map((outcome) => ('delivery' in outcome ? outcome.delivery : ''));
    expect(deliveries.toSorted()).toEqual(numbers(300).toSorted());
    await running[Symbol.asyncDispose]();
    expect(await broker.ready(line.input)).toBe(0);
  });

  test('that carry large bodies travel in smaller batches', async () => {
    const line = await aLine(broker, {
      handle: async (body) => [{ kind: 'outcome', outcome: anOutcome(body, 'x'.repeat(300_000)) }],
    });
    await broker.put(line.input, numbers(20));
    await using _running = await line.run();
    const all = await untilRecorded(20);
    expect(Math.max(...all.map((batch) => batch.length))).toBeLessThanOrEqual(4);
  });

  test('that were not confirmed are published again, without handling their messages again', async () => {
    const line = await aLine(broker, {
      broker: { url: detour.url },
      handle: async (body) => {
        if (body === '0') detour.cut('test publish');
        return [{ kind: 'outcome', outcome: anOutcome(body) }];
      },
    });
    await broker.put(line.input, numbers(10));
    await using running = await line.run();
    await untilRecorded(10);
    expect(line.seen).toHaveLength(10);
    await running[Symbol.asyncDispose]();
    expect(await broker.ready(line.input)).toBe(0);
  });
});
