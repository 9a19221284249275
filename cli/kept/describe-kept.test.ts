import { describe, expect, test } from '@jest/globals';
import type { KeptFor } from '@waybell/line/kept/kept-in-all';
import { describeKept } from './describe-kept.ts';

const kept = (keptBy: string, routingKey: string, minute: number): KeptFor => ({
  keptBy,
  exchange: 'waybell.outcomes',
  routingKey,
  publications: minute,
  bytes: minute * 1_000,
  oldestAt: Date.parse(`2026-11-20T09:0${minute}:00Z`),
});

describe('describeKept', () => {
  test('is a line for each service, with what has waited longest', () => {
    const all = [kept('waybell_router', '', 1), kept('waybell_deliverer', 'a.b', 2), kept('waybell_router', 'c', 3)];
    expect(describeKept(all)).toBe(
      [
        'kept by event-router until RabbitMQ takes it: 4 publications, 3.9 KiB, for 2 destinations, oldest since 2026-11-20T09:01:00.000Z for waybell.outcomes',
        'kept by deliverer until RabbitMQ takes it: 2 publications, 2.0 KiB, for 1 destination, oldest since 2026-11-20T09:02:00.000Z for waybell.outcomes a.b',
      ].join('\n'),
    );
  });

  test('is empty where nothing is kept', () => expect(describeKept([])).toBe(''));
});
