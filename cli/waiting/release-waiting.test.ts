import { beforeEach, describe, expect, test } from '@jest/globals';
import { wait, type Delivery } from '@waybell/line/delivery';
import { isDeliveryBatch, openBatch } from '@waybell/line/delivery-batch';
import type { Publication } from '@waybell/line/messages';
import { readOutcomes } from '@waybell/line/outcome-batch';
import { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import { CLAIM_MS, type WaitingRow, type WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import { releaseWaiting, type ReleasedRows } from './release-waiting.ts';

const GUID = '0b9c2f6e-7d1f-4e57-8f5e-3f0c1d2e4a5b';
const ROOM = '0'.repeat(32);
const OTHER = '1'.repeat(32);

const delivery = (attempt: number, room = ROOM): Delivery => ({
  guid: GUID,
  interface: 'shipper',
  action: 'order.created',
  subscription: GUID,
  generation: 1,
  event: GUID,
  attempt,
  createdAt: attempt,
  beganAt: 1,
  room: { room, account: GUID },
  body: Buffer.from(`${attempt}`),
});
const rowOf = (attempt: number, how: { room?: string; afterMs?: number; why?: 'full' | 'open' } = {}): WaitingRow => {
  const { room = ROOM, why = 'full', ...rest } = how;
  return wait(delivery(attempt, room), { why, ...rest }).row;
};

let now: number;
let rooms: MemoryWaiting;
let store: WaitingStore;
let sent: Publication[];
let released: ReleasedRows;
let refused: string | undefined;
let onPublished: (() => Promise<void>) | undefined;

beforeEach(() => {
  now = 1_000_000;
  rooms = new MemoryWaiting(() => now);
  store = rooms.storeFor('command');
  sent = [];
  released = { deliveries: 0, publications: 0, records: 0, claimedByOthers: [] };
  refused = undefined;
  onPublished = undefined;
});

const line = {
  publish: async (publication: Publication) => {
    if (publication.routingKey === refused) return 'unroutable' as const;
    sent.push(publication);
    await onPublished?.();
    return 'confirmed' as const;
  },
};
const release = async (subscription?: string, chosen = [ROOM, OTHER]) =>
  releaseWaiting({
    store,
    line,
    rooms: chosen.map((room) => ({ room, called: room })),
    subscription,
    released,
    now: () => now,
  });
/** The bodies of the deliveries that were published. */
const bodies = () =>
  sent.flatMap((each) => {
    const message = { ...each, queue: '', deliveryCount: 0, failures: 0, note: each.note ?? '' };
    return isDeliveryBatch(each) ? openBatch(message).map(({ body }) => body.toString()) : [];
  });

describe('releaseWaiting', () => {
  test('publishes what waits, due or not, and leaves neither rows nor rooms', async () => {
    await store.put([rowOf(1), rowOf(2, { afterMs: 60_000 }), rowOf(3, { room: OTHER })]);
    await release();
    expect(bodies()).toEqual(['1', '2', '3']);
    expect(released).toEqual({ deliveries: 3, publications: 0, records: 0, claimedByOthers: [] });
    expect([rooms.count, rooms.room(ROOM), rooms.room(OTHER)]).toEqual([0, undefined, undefined]);
  });

  test('leaves requests that are under way, until nobody makes them any more', async () => {
    await store.put([rowOf(1, { why: 'open', afterMs: 90_000 }), rowOf(2)]);
    await release();
    expect([bodies(), rooms.count]).toEqual([['2'], 1]);
    now += 90_000;
    await release();
    expect([bodies(), rooms.count]).toEqual([['2', '1'], 0]);
  });

  test('leaves to another process what it has, and says so; a room that is given up is as it was', async () => {
    const other = rooms.storeFor('other');
    await store.put([rowOf(1), rowOf(2, { room: OTHER })]);
    await other.claim({ kind: 'named', rooms: [ROOM] });
    await release();
    expect(bodies()).toEqual(['2']);
    expect(released.claimedByOthers).toEqual([ROOM]);
    expect(rooms.room(ROOM)?.claimedBy).toBe('other');
  });

  test('publishes nothing more of a room that it lost meanwhile', async () => {
    const rows = Array.from({ length: 257 }, (_, place) => rowOf(place + 1));
    await store.put(rows);
    onPublished = async () => {
      now += CLAIM_MS;
      await rooms.storeFor('other').claim({ kind: 'named', rooms: [ROOM] });
    };
    await release(undefined, [ROOM]);
    expect([bodies().length, rooms.count, released.claimedByOthers.length]).toEqual([256, 1, 1]);
  });

  test('takes one subscription’s rows alone, and leaves a shut room shut', async () => {
    await store.put([rowOf(1), { ...rowOf(2), subscription: OTHER }]);
    await store.claim({ kind: 'named', rooms: [ROOM] });
    await store.release([{ room: ROOM, shutForMs: 5_000 }]);
    now += 1_000;
    await release(OTHER);
    expect(bodies()).toEqual(['2']);
    expect(rooms.room(ROOM)?.claimedBy).toBeUndefined();
    expect(rooms.room(ROOM)?.shutSince).toBe(now - 6_000);
  });

  test('deletes what the broker has, and nothing else, where no queue takes something', async () => {
    const gone = rowOf(2, { room: OTHER });
    await store.put([rowOf(1), { ...gone, delivery: { ...gone.delivery, action: 'order.gone' } }]);
    refused = 'shipper.order.gone';
    await expect(release()).rejects.toThrow('no queue takes waybell.deliveries shipper.order.gone');
    expect(released).toMatchObject({ deliveries: 1 });
    expect(rooms.count).toBe(1);
    expect(rooms.room(OTHER)?.claimedBy).toBeUndefined();
  });

  test('tells of a delivery without its body that it ended as forgotten', async () => {
    const row = rowOf(1);
    await store.put([row]);
    rooms.forget(row);
    await release();
    expect(sent.map(({ exchange, body }) => [exchange, readOutcomes(body)])).toMatchObject([
      ['waybell.outcomes', [{ kind: 'dropped', reason: 'forgotten', delivery: GUID, attempt: 1, waited: 'full' }]],
    ]);
    expect(released).toMatchObject({ deliveries: 0, records: 1 });
  });

  test('publishes a delivery that it cannot read as it is, so that it holds up no other', async () => {
    const row = rowOf(1);
    const unread = { ...row, delivery: { ...row.delivery, event: 'unknown' } };
    await store.put([unread]);
    await release();
    expect(bodies()).toEqual([expect.stringMatching(/^\[\["0b.* unknown 1 .*\]\]\n1$/)]);
    await store.put([unread]);
    rooms.forget(row);
    await expect(release()).rejects.toThrow('cannot be read');
  });
});
