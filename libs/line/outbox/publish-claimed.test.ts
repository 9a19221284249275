import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { createMetrics } from '@waybell/runtime/metrics';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { connectBroker } from '../broker/connect-broker.ts';
import type { Rejection } from '../messages.ts';
import { readOutcomes } from '../outcome-batch.ts';
import { logQueue, rejectedQueue } from '../topology.ts';
import { to } from '../testing/a-line.ts';
import { aShutdown } from '../testing/a-shutdown.ts';
import { BreakableBroker } from '../testing/test-broker.ts';
import { publishClaimed } from './publish-claimed.ts';

const metrics = createMetrics('test');
const LONG_MS = 600_000;

const broker = shared(() => BreakableBroker.start());

/** Rows to publish to that queue, in their own table; `left` returns the unsettled ones. */
function someRows(queue: string, names: readonly string[], claimMs = LONG_MS) {
  const claimedUntil = new Map(names.map((name) => [name, -Infinity]));
  return {
    claimMs,
    left: () => [...claimedUntil.keys()],
    claimed: () => [...claimedUntil.values()].filter((end) => end > systemClock.now()).length,
    async claim() {
      const due = [...claimedUntil].filter(([, end]) => end <= systemClock.now()).map(([name]) => name);
      for (const name of due) claimedUntil.set(name, systemClock.now() + claimMs);
      return due;
    },
    async settle(settled: readonly string[]) {
      for (const name of settled) claimedUntil.delete(name);
    },
    publicationOf: (name: string) => (name === 'nothing' ? undefined : to(queue, name)),
  };
}

async function aProcess(rows: ReturnType<typeof someRows>, shutdown = aShutdown()) {
  const name = await broker.step();
  const connected = await connectBroker({
    url: broker.detour.url,
    name: 'test',
    exchanges: [],
    confirmTimeoutMs: 30_000,
    unconfirmedLimit: 1_000,
    log,
  });
  const publishing = publishClaimed(name, rows, { broker: connected, shutdown, log, metrics, holdMs: LONG_MS });
  return {
    broker: connected,
    publishDue: () => publishing.publishDue(),
    async [Symbol.asyncDispose]() {
      await publishing[Symbol.asyncDispose]();
      await connected[Symbol.asyncDispose]();
    },
  };
}

describe('what rows say', () => {
  test('is published as it is, and settled once that is confirmed; also where there is nothing to publish', async () => {
    const queue = await broker.queue();
    const rows = someRows(queue, ['one', 'nothing', 'two']);
    await using running = await aProcess(rows);
    expect(await running.publishDue()).toBe(true);
    expect((await broker.takeBodies(queue, 2)).toSorted()).toEqual(['one', 'two']);
    expect(rows.left()).toEqual([]);
    expect(await running.publishDue()).toBe(true);
  });

  test('waits while the broker blocks publishers, and is published once when that is over', async () => {
    const queue = await broker.queue();
    const rows = someRows(queue, ['one', 'two']);
    await using running = await aProcess(rows);
    await until('it is connected', () => running.broker.state() === 'writable');
    await broker.alarm(true);
    let published: Promise<boolean>;
    try {
      // The broker reports that it blocks only after a publish.
      void running.broker.publish(to(queue, 'before')).catch(() => undefined);
      await until('it is blocked', () => running.broker.state() === 'blocked');
      published = running.publishDue();
      await until('both are claimed', () => rows.claimed() === 2);
      expect(rows.left()).toEqual(['one', 'two']);
    } finally {
      await broker.alarm(false);
    }
    expect(await published).toBe(true);
    expect((await broker.takeBodies(queue, 3)).toSorted()).toEqual(['before', 'one', 'two']);
    expect(rows.left()).toEqual([]);
  });

  test('stays where its process ends while the broker blocks publishers', async () => {
    const queue = await broker.queue();
    const rows = someRows(queue, ['one']);
    {
      await using running = await aProcess(rows);
      await until('it is connected', () => running.broker.state() === 'writable');
      await broker.alarm(true);
      void running.broker.publish(to(queue, 'before')).catch(() => undefined);
      await until('it is blocked', () => running.broker.state() === 'blocked');
      void running.publishDue();
      await until('it is claimed', () => rows.claimed() === 1);
    }
    await broker.alarm(false);
    expect(rows.left()).toEqual(['one']);
  });

  test('is left to the next claim where it is not confirmed while claimed', async () => {
    const queue = await broker.queue();
    const rows = someRows(queue, ['late'], 50);
    await using running = await aProcess(rows);
    await until('it is connected', () => running.broker.state() === 'writable');
    broker.detour.stall();
    expect(await running.publishDue()).toBe(false);
    expect(rows.left()).toEqual(['late']);
    broker.detour.flow();
    await until('it is settled', async () => (await running.publishDue()) && rows.left().length === 0);
    expect(new Set(await broker.takeBodies(queue, 1))).toEqual(new Set(['late']));
  });

  test('that no queue takes is rejected like a message, and on record', async () => {
    const record = {
      event: 'e',
      interface: 'carrier',
      action: 'order.created',
      at: 2,
      keys: [],
      receivers: [],
    } as const;
    const reportRejection = (_: unknown, why: Rejection) => [
      { kind: 'outcome' as const, outcome: { ...record, ...why, kind: 'rejected' as const } },
    ];
    const lost = { ...someRows('waybell.nowhere', ['lost']), reportRejection };
    await broker.take(logQueue);
    await using running = await aProcess(lost);
    expect(await running.publishDue()).toBe(true);
    expect(lost.left()).toEqual([]);
    const [rejected] = await until('it is rejected', async () => {
      const taken = await broker.take(rejectedQueue);
      return taken.length > 0 && taken;
    });
    expect(rejected?.content.toString()).toBe('lost');
    expect(rejected?.properties.headers).toMatchObject({
      'waybell-reason': 'unbound',
      'waybell-routing-key': 'waybell.nowhere',
    });
    const records = await until('it is on record', async () => {
      const batches = await broker.take(logQueue);
      return batches.length > 0 && batches.flatMap(({ content }) => readOutcomes(content));
    });
    expect(records).toMatchObject([{ kind: 'rejected', reason: 'unbound' }]);
  });

  test('that no queue takes and that may be lost is settled, and put nowhere', async () => {
    await broker.take(rejectedQueue);
    const rows = { ...someRows('waybell.nowhere', ['lost']), mayBeLost: true as const };
    await using running = await aProcess(rows);
    expect(await running.publishDue()).toBe(true);
    expect(rows.left()).toEqual([]);
    expect(await broker.take(rejectedQueue)).toEqual([]);
  });

  test('is not claimed any more by a process that ends', async () => {
    const queue = await broker.queue();
    const rows = someRows(queue, ['one']);
    const shutdown = aShutdown();
    await using running = await aProcess(rows, shutdown);
    shutdown.begin();
    expect(await running.publishDue()).toBe(false);
    expect(await rows.claim()).toEqual(['one']);
  });

  test('is claimed again after a failure to claim', async () => {
    const queue = await broker.queue();
    const rows = someRows(queue, ['one']);
    let failures = 1;
    const { claim } = rows;
    rows.claim = async () => {
      if (failures-- > 0) throw new Error('the table is away');
      return claim();
    };
    await using running = await aProcess(rows);
    await expect(running.publishDue()).rejects.toThrow('the table is away');
    expect(await running.publishDue()).toBe(true);
    expect(await broker.takeBodies(queue, 1)).toEqual(['one']);
  });
});
