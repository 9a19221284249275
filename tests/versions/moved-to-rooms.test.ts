import { outboxIn, writeProperties } from '@waybell/line/outbox/postgres-outbox';
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { endpointKey } from '@waybell/deliverer/flow/endpoint';
import type { Delivery } from '@waybell/line/delivery';
import { writeRow } from '@waybell/line/delivery-batch';

import type { TakenRow, WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import { describeSource } from '@waybell/subscription-api/database';
import { migrate } from '@waybell/subscription-api/migrate';
import { WaitingRooms } from '@waybell/subscription-api/migrations/0033-waiting-rooms';
import { migrations } from '@waybell/subscription-api/migrations/in-order';
import {
  ALL,
  aPublication,
  hex,
  PostgresStand,
  takeFrom,
  weighs,
} from '@waybell/line/waiting-room/testing/waiting-stand';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';
import { aDelivery } from '@waybell/line/waiting-room/testing/waiting-deliveries';

/** With the tables from before the rooms. */
async function standBefore(): Promise<PostgresStand> {
  const stand = await PostgresStand.start();
  await goBack(stand);
  return stand;
}

async function goBack({ database }: PostgresStand): Promise<void> {
  const source = describeSource({ url: database.url, role: '', poolSize: 1, timeoutMs: PATIENT_MS, log });
  await source.initialize();
  try {
    for (const _ of migrations.slice(migrations.indexOf(WaitingRooms))) await source.undoLastMigration();
  } finally {
    await source.destroy();
  }
}

const CALLBACK_URL = 'https://a.test/hook?key=secret';

async function subscribed(stand: PostgresStand): Promise<{ account: string; subscription: string }> {
  const account = randomUUID();
  const what = { account, interface: 'shipper', action: 'insurance.issued', callbackUrl: CALLBACK_URL } as const;
  return { account, subscription: await subscribe(stand.database.postgres, what) };
}

const ourDelivery = (subscription: string, given: Partial<Delivery> = {}): Delivery => {
  const made = { createdAt: 1_000, beganAt: 2_000, body: Buffer.from('{"a":1}') };
  return aDelivery({ subscription, interface: 'shipper', action: 'insurance.issued', ...made, ...given });
};

/** Parks a delivery as an earlier version did: its note counts the moves. */
async function park(stand: PostgresStand, delivery: Delivery, { hop = 1, isForgotten = false } = {}): Promise<void> {
  const { note } = JSON.parse(writeRow(delivery)) as { note: string };
  await stand.sql(
    `insert into waybell.parked (subscription, created_at, delivery, attempt, hop, why, parked_at, not_before, action, note, traceparent, body)
     values ($1, $2, $3, $4, $5, 'busy', '2026-11-20T09:30Z', case when $5 = 2 then now() + interval '1 hour' end,
       'shipper.insurance.issued', $6, $7, $8)`,
    [
      delivery.subscription,
      delivery.createdAt,
      delivery.guid,
      delivery.attempt,
      hop,
      note.replace(/(?= resend|$)/, ` hop ${hop}`),
      delivery.traceparent ?? null,
      isForgotten ? null : delivery.body,
    ],
  );
}

async function openRequest(stand: PostgresStand, delivery: Delivery): Promise<void> {
  const { note } = JSON.parse(writeRow(delivery)) as { note: string };
  await stand.sql(
    `insert into waybell.open_requests (id, delivery, created_at, attempt, due_at, action, note, body)
     values (gen_random_uuid(), $1, $2, 1, now() + interval '1 minute', 'shipper.insurance.issued', $3, $4)`,
    [delivery.guid, delivery.createdAt, note, delivery.body],
  );
}

const everyRow = (store: WaitingStore, room: string): Promise<TakenRow[]> => takeFrom(store, room, 1_000);

test('what was parked, under way or kept before waits in its room, as it would have been put there', async () => {
  await using stand = await standBefore();
  const { account, subscription } = await subscribed(stand);
  const [plain, traced, later, forgotten, open] = [
    ourDelivery(subscription, { createdAt: 1, dueAt: 5 }),
    ourDelivery(subscription, { createdAt: 2, traceparent: '00-aa-bb-01', byHand: { why: 'resend', fromAttempt: 1 } }),
    ourDelivery(subscription, { createdAt: 3 }),
    ourDelivery(subscription, { createdAt: 4 }),
    ourDelivery(subscription, { createdAt: 5 }),
  ];
  await park(stand, plain);
  await park(stand, traced);
  await park(stand, later, { hop: 2 });
  await park(stand, forgotten, { isForgotten: true });
  await openRequest(stand, open);
  const kept = [aPublication('a'), { ...aPublication('b\0'), note: 'n' }];
  for (const [service, routingKey] of [
    ['deliverer', 'k'],
    ['router', 'k'],
    ['deliverer', ''],
  ]) {
    await stand.sql(
      `with d as (insert into waybell.kept_destinations (kept_by, exchange, routing_key, publications, bytes)
         values ($1, 'waybell.outcomes', $2, 2, 9) returning id)
       insert into waybell.kept_publications (destination, properties, body, due_at)
       select d.id, properties, body, now() + after from d, unnest($3::text[], $4::bytea[], array['0', '1 hour']::interval[]) k (properties, body, after)`,
      [`waybell_${service}`, routingKey, kept.map(writeProperties), kept.map(({ body }) => body)],
    );
  }
  expect(await migrate({ url: stand.database.url, log })).toContain('WaitingRooms1795824000033');

  const { endpoint: room } = endpointKey({ account, callbackUrl: CALLBACK_URL });
  const store = stand.store();
  expect(await store.claim(ALL)).toEqual([{ room, account, changes: 0, crashes: 0 }]);
  const due = await everyRow(store, room);
  expect(due.map(({ madeAt, id }) => [madeAt, id])).toEqual(
    [plain, traced, forgotten].map(({ createdAt, guid }) => [createdAt, `${guid} 1`]),
  );
  expect(due.map(({ content }) => content.delivery)).toEqual([plain, traced, { ...forgotten, body: Buffer.alloc(0) }]);
  expect(due.map(({ why, subscription: of, isForgotten }) => [why, of, isForgotten])).toEqual([
    ['busy', subscription, undefined],
    ['busy', subscription, undefined],
    ['busy', subscription, true],
  ]);
  await stand.later(3_600_000);
  expect((await everyRow(store, room)).map(({ madeAt, why }) => [madeAt, why])).toEqual([
    [1, 'busy'],
    [2, 'busy'],
    [3, 'busy'],
    [4, 'busy'],
    [5, 'open'],
  ]);

  await using ofRouter = stand.connect(1, 'waybell_router');
  const [k, none] = ['waybell.outcomes k', 'waybell.outcomes '];
  const ofDeliverer = outboxIn(stand.postgres, 'deliverer');
  const left = outboxIn(ofRouter, 'router');
  expect([await ofDeliverer.takeOver(), await left.takeOver()]).toEqual([4, 2]);
  const claim = { open: [k, none], shut: [], claimMs: 1 };
  expect((await ofDeliverer.claim(claim)).map(({ destination }) => destination).toSorted()).toEqual([none, none, k, k]);
  // The other has its time still to come.
  expect(await left.claim(claim)).toMatchObject([{ destination: k, publication: kept[0] }]);
  expect(await left.figures()).toMatchObject({ rows: 2 });
  expect(await store.figures()).toMatchObject({ rows: 5, oldestAt: 1 });
  const [bytes] = await stand.sql<{ isRight: boolean }>(
    `select (select sum(bytes) from waybell.waiting_sums where name is null)
       = (select sum(coalesce(octet_length(body), 0) + octet_length(properties)) from waybell.waiting) as "isRight"`,
  );
  expect(bytes).toEqual({ isRight: true });
});

test('what waits in a room is not left behind by going back', async () => {
  await using stand = await PostgresStand.start();
  await stand.store().put([{ room: hex(randomUUID()), madeAt: 1, id: 'a', why: 'full', delivery: weighs('a') }]);
  await expect(goBack(stand)).rejects.toThrow('something waits');
  expect(await stand.count()).toBe(1);
});
