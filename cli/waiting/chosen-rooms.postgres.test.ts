import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { aRow, hex, PostgresStand } from '@waybell/line/waiting-room/testing/waiting-stand';
import { waitingEndpoints } from '@waybell/subscription-api/waiting-rooms';
import { chosenRooms } from './release-waiting.ts';

test('people are told where and why a delivery waits for its subscription', async () => {
  await using stand = await PostgresStand.start();
  const { postgres } = stand.database;
  const account = randomUUID();
  const subscription = await subscribeTo(postgres, 'https://a.test/hook?key=secret', account);
  const room = hex(subscription);
  await stand.store().put([aRow({ room, account, subscription }, 'a', { why: 'paused', afterMs: 3_600_000 })]);
  const told = { url: 'https://a.test/hook', why: ['paused'], subscriptions: [subscription], deliveries: 1 };
  expect(await waitingEndpoints(postgres, { account, limit: 9 })).toMatchObject([told]);
  const choice = { kind: 'subscription', guid: subscription } as const;
  expect(await chosenRooms(postgres, choice)).toEqual([{ room, called: 'https://a.test/hook' }]);
});
