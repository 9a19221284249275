import { beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import type { Publication } from './messages.ts';
import { deactivatorQueue, endsExchange, logQueue, outcomesExchange } from './topology.ts';
import { readEnds, recordWithEnd, readOutcomes } from './outcome-batch.ts';
import type { Attempted, Outcome } from './outcomes.ts';
import { aLine, limitOf, numbers, to } from './testing/a-line.ts';
import { BreakableBroker } from './testing/test-broker.ts';

const broker = shared(() => BreakableBroker.start());

beforeEach(async () => {
  await broker.take(logQueue);
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

const batches = async () => (await broker.take(logQueue)).map(({ content }) => readOutcomes(content));

/** Resolves with the batches once this many records have come. */
const untilRecorded = async (count: number) => {
  const all: Outcome[][] = [];
  await until(`${count} records have come`, async () => {
    all.push(...(await batches()));
    return all.flat().length >= count;
  });
  return all;
};

describe('records of outcomes', () => {
  test('travel 400 to a batch, and what is left over after 60 ms, each record once', async () => {
    const clock = new TurnedClock();
    const line = await aLine(broker, {
      tools: { clock },
      inHandLimit: limitOf(1_000),
      handle: async (body) => [{ kind: 'outcome', outcome: anOutcome(body) }],
    });
    await using running = await line.run();
    await until('it is connected', () => running.broker.state() === 'writable');
    await broker.put(line.input, numbers(1_000));
    await until('all are handled', () => line.seen.length === 1_000);
    const all = await untilRecorded(800);
    expect(all.map((batch) => batch.length)).toEqual([400, 400]);
    await clock.runFor(60);
    all.push(...(await untilRecorded(200)));
    const deliveries = all.flat().map((outcome) => ('delivery' in outcome ? outcome.delivery : ''));
    expect(deliveries.toSorted()).toEqual(numbers(1_000).toSorted());
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
      broker: { url: broker.detour.url },
      handle: async (body) => {
        if (body === '0') broker.detour.cut('test publish');
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

const ends = async () => (await broker.take(deactivatorQueue)).map(({ content: body }) => readEnds({ body }));

describe('ends of deliveries', () => {
  const anExhausted = (delivery: string) => ({ ...anOutcome(delivery), subscription: delivery }) as Attempted;

  test('go to the deactivator, and their records to the delivery log alone', async () => {
    const line = await aLine(broker, {
      handle: async (body) => recordWithEnd(anExhausted(body)),
    });
    await broker.put(line.input, ['one', 'two']);
    await using running = await line.run();
    await untilRecorded(2);
    await running[Symbol.asyncDispose]();
    const told = (await ends()).flatMap((batch) => ('kind' in batch ? [] : batch));
    const end = { generation: 1, isDelivered: false, at: 4 };
    expect(told.toSorted((one, other) => one.subscription.localeCompare(other.subscription))).toEqual([
      { subscription: 'one', delivery: 'one', ...end },
      { subscription: 'two', delivery: 'two', ...end },
    ]);
    expect(await broker.ready(line.input)).toBe(0);
  });

  test('are none where nothing is told: the queue stays empty', async () => {
    const line = await aLine(broker, {
      handle: async (body) => recordWithEnd({ ...anExhausted(body), byHand: 'test' }),
    });
    await broker.put(line.input, ['one']);
    await using running = await line.run();
    await untilRecorded(1);
    await running[Symbol.asyncDispose]();
    expect(await ends()).toEqual([]);
  });
});

describe('while the broker blocks publishers', () => {
  const aRecord = (kind: 'delivered' | 'dropped' | 'failed', delivery: string): Attempted => {
    const facts = { delivery, subscription: 's', generation: 1, event: 'e', interface: 'carrier' } as const;
    const more = { ...facts, action: 'order.created', attempt: 1, at: 4 };
    if (kind === 'dropped') return { ...more, kind, reason: 'unsubscribed' };
    const attempted = { ...more, beganAt: 1, answer: { durationMs: 3, status: 200 } };
    return kind === 'delivered' ? { ...attempted, kind } : { ...attempted, kind, retryAt: 9 };
  };

  test('a step that drains empties its queue, and what it caused waits in a room', async () => {
    const kept: Publication[] = [];
    const line = await aLine(broker, {
      tools: { putPublication: async (publication) => void kept.push(publication) },
      drainsWhileBlocked: true,
      inHandLimit: limitOf(100),
      handle: async (body) => {
        if (body === 'retried') return [to(line.output, body), { kind: 'outcome', outcome: aRecord('failed', body) }];
        return recordWithEnd(aRecord(body === '7' ? 'dropped' : 'delivered', body), { reportsSuccess: true });
      },
    });
    await broker.put(line.input, ['retried', ...numbers(300)]);
    await broker.alarm(true);
    {
      await using running = await line.run();
      // More messages than the step may hold.
      await until('all are handled', () => line.seen.length === 301);
      expect(running.broker.state()).toBe('blocked');
      expect(running.waitingFor()).toEqual([]);
    }
    await broker.alarm(false);
    expect(await broker.ready(line.input)).toBe(0);
    const sentTo = (exchange: string) => kept.filter((publication) => publication.exchange === exchange);
    const recorded = sentTo(outcomesExchange).flatMap(({ body }) => readOutcomes(body));
    const deliveries = recorded.map((outcome) => ('delivery' in outcome ? outcome.delivery : ''));
    expect(deliveries.toSorted()).toEqual(['retried', ...numbers(300)].toSorted());
    expect(sentTo(endsExchange).flatMap((batch) => [readEnds(batch)].flat())).toHaveLength(299);
    expect(kept.filter(({ body }) => body.toString() === 'retried')).toHaveLength(1);
  });
});
