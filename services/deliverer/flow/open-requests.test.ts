import { describe, expect, test } from '@jest/globals';
import { asWaited, wait, type Delivery } from '@waybell/line/delivery';
import type { Source } from '@waybell/line/messages';
import { takenOf } from '@waybell/line/testing/a-delivery';
import { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { silentLog } from '@waybell/runtime/testing/patience';
import { aDelivery } from '../testing/delivery.ts';
import { roomOf, TARGET } from '../testing/waiting.ts';
import { OpenRequests, type OpenRequestsOptions } from './open-requests.ts';

const ROOM = roomOf(TARGET);
const LIMITS = { shipper: { responseMs: 60_000 }, carrier: { responseMs: 3_000 } };
const never = () => {
  throw new Error('it was cut');
};

/** A delivery under way whose target is known. */
function underWay(what: Partial<Delivery> = {}) {
  const parsed = aDelivery({ room: { room: ROOM, account: TARGET.account }, ...what });
  return { message: asWaited(takenOf(wait(parsed, { why: 'open' }).row), { crashes: 0, isOverLimit: false }), parsed };
}

function aProcess(clock = new TurnedClock(), waiting = new MemoryWaiting(clock.now)) {
  const store = waiting.storeFor('one');
  const putRow = async (...[row]: Parameters<OpenRequestsOptions['putRow']>) =>
    waiting.isAway ? undefined : (await store.put([row]))[0];
  const open = new OpenRequests({
    store,
    putRow,
    limits: LIMITS,
    log: silentLog,
    clock,
  });
  /** Returns the rows that are due after this many milliseconds. */
  const dueAfter = async (ms: number) => {
    await clock.runFor(ms);
    return (await store.take([{ room: ROOM, limit: 9 }]))[0]?.rows ?? [];
  };
  return { clock, waiting, store, open, dueAfter };
}

describe('a request that takes long', () => {
  test.each([
    ['carrier', 33_000],
    ['shipper', 90_000],
  ] as const)(
    'of a %s waits in its room until its outcome is safe, due half a minute after its limit',
    async (name, afterMs) => {
      const { open, clock, waiting } = aProcess();
      const at = clock.now();
      const source = await open.storeRunning(underWay({ interface: name }), never);
      const [row] = waiting.room(ROOM)?.rows.after() ?? [];
      expect([row?.why, row?.dueAt]).toEqual(['open', at + afterMs]);
      source?.acknowledge();
      await clock.runFor(1);
      expect(waiting.count).toBe(0);
      await clock.runFor(1_000_000);
    },
  );

  test('is postponed by a process that lives, and attempted again, as it came, when that died', async () => {
    const { open, dueAfter } = aProcess();
    const request = underWay();
    let isDead = false;
    await open.storeRunning(request, () => isDead || never());
    expect(await dueAfter(600_000)).toEqual([]);
    isDead = true;
    void open[Symbol.asyncDispose]();
    const [row] = await dueAfter(33_000);
    const { room: _, ...delivery } = request.parsed;
    expect(row?.content.delivery).toEqual(delivery);
  });

  test('is due at once where it is given back, and no other is', async () => {
    const { open, dueAfter } = aProcess();
    const source = await open.storeRunning(underWay(), never);
    await open.storeRunning(underWay({ attempt: 2 }), never);
    source?.giveBack();
    expect((await dueAfter(1)).map(({ id }) => id)).toEqual([`${underWay().parsed.guid} 1`]);
  });

  test('is cut before another may take it, where it could not be postponed', async () => {
    const { open, clock, waiting, dueAfter } = aProcess();
    const cut: Source[] = [];
    const source = await open.storeRunning(underWay(), (each) => cut.push(each));
    waiting.isAway = true;
    await clock.runFor(22_000);
    expect(cut).toEqual([]);
    await clock.runFor(2_000);
    expect(cut).toEqual([source]);
    waiting.isAway = false;
    source?.acknowledge();
    expect(await dueAfter(20_000)).toHaveLength(1);
  });

  test('is cut where its process stood still for so long that another may have it', async () => {
    const { open, clock, waiting } = aProcess();
    const cut: Source[] = [];
    const source = await open.storeRunning(underWay(), (each) => cut.push(each));
    clock.skipTo(clock.now() + 34_000);
    await clock.runFor(1);
    expect(cut).toEqual([source]);
    expect([...(waiting.room(ROOM)?.rows.after() ?? [])][0]?.dueAt).toBe(33_000);
  });

  test('is cut where another message of the same attempt was found to wait: the row is no longer what was put', async () => {
    const { open, clock, store, waiting } = aProcess();
    const cut: Source[] = [];
    const request = underWay();
    await open.storeRunning(request, (each) => cut.push(each));
    await store.retain([{ room: ROOM, madeAt: 0, id: `${request.parsed.guid} 1` }]);
    await clock.runFor(5_000);
    expect([cut.length, waiting.count]).toEqual([1, 1]);
  });

  test('stays with its batch where Postgres is away, or before its endpoint is known', async () => {
    const { open, waiting } = aProcess();
    const { message, parsed } = underWay();
    const { room: _, ...unknown } = parsed;
    expect(await open.storeRunning({ message, parsed: unknown }, never)).toBeUndefined();
    waiting.isAway = true;
    expect(await open.storeRunning({ message, parsed }, never)).toBeUndefined();
  });

  test('stays with its batch where more than 16 MiB are held so', async () => {
    const { open, clock } = aProcess();
    const body = Buffer.alloc(9 * 2 ** 20);
    const source = await open.storeRunning(underWay({ body }), never);
    expect(await open.storeRunning(underWay({ body, attempt: 2 }), never)).toBeUndefined();
    source?.acknowledge();
    await clock.runFor(1);
    expect(await open.storeRunning(underWay({ body, attempt: 2 }), never)).toBeDefined();
  });
});
