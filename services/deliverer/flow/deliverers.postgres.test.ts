import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { deliverersIn } from './flow.ts';
import { PostgresStand } from '@waybell/line/waiting-room/testing/waiting-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => PostgresStand.start());
const aDeliverer = (...actions: string[]) => deliverersIn(stand.postgres, { id: randomUUID(), actions });

test('a deliverer counts itself, and those that live and deliver some of its actions', async () => {
  const [one, both, other] = [aDeliverer('a'), aDeliverer('a', 'b'), aDeliverer('b')];
  expect(await one.live()).toBe(1);
  expect([await both.live(), await other.live()]).toEqual([2, 2]);
  expect([await one.live(), await both.live(), await other.live()]).toEqual([2, 3, 2]);
  await one.leave();
  expect([await both.live(), await other.live()]).toEqual([2, 2]);
  await stand.sql("update waybell.deliverers set seen_at = now() - interval '21 s'");
  expect(await other.live()).toBe(1);
  expect(await stand.sql('select from waybell.deliverers')).toHaveLength(1);
});

test('many deliverers that come at once do not wait for each other', async () => {
  const many = Array.from({ length: 16 }, () => aDeliverer('c'));
  await stand.sql("update waybell.deliverers set seen_at = now() - interval '1 h'");
  await Promise.all(many.map((each) => each.live()));
  expect(await many[0]?.live()).toBe(16);
});
