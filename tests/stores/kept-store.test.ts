import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { keptInAll } from '@waybell/line/kept/kept-in-all';
import type { KeptKey, KeptStore } from '@waybell/line/kept/kept-store';
import { aPublication, bodyOf } from '@waybell/line/kept/testing/some-broker';
import { KeptStand } from './kept-stand.ts';

let stand: KeptStand;
let store: KeptStore;
beforeAll(async () => {
  stand = await KeptStand.start();
  store = stand.as('waybell_deliverer');
});
afterAll(async () => {
  await stand[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stand.empty();
});

const ROOM = { bytes: 2 ** 30, forMs: 60_000 };

/** Claims so many of each destination of the service. */
async function claim(from: KeptStore, most = 1_000, how = ROOM) {
  const found = await from.look();
  return from.claim(
    found.map(({ destination }) => ({ destination, most })),
    how,
  );
}

const bodiesOf = (rows: Awaited<ReturnType<KeptStore['claim']>>) => rows.map(({ publication }) => bodyOf(publication));

const sumsOf = async (from: KeptStore) =>
  (await from.look()).map(({ routingKey, publications, bytes }) => ({ routingKey, publications, bytes }));

describe('what is kept', () => {
  test('comes back as it was, whatever strangers wrote into it', async () => {
    const foreign = aPublication('k', 'a\0b', {
      messageId: 'nul \0 id',
      type: 'ünïcode \ud83d\ude9a',
      note: '',
      contentType: '"quoted", \\ {and} braced',
      contentEncoding: 'gzip',
      headers: { at: 7, text: 'x\0y', traceparent: '00-aa-bb-01' },
    });
    const bare = aPublication('', '', { exchange: 'other' });
    const delivery = aPublication('d', 'delivery', { deliveries: true, messageId: 'd', note: '1 d' });
    await store.insert([foreign, bare, delivery]);
    expect((await claim(store)).map(({ publication }) => publication)).toEqual([foreign, bare, delivery]);
  });

  test('goes where it would be after its delay, once that is over', async () => {
    const ifKept = { afterMs: 3_600_000, exchange: 'e', routingKey: 'later' };
    await store.insert([{ ...aPublication('delayed', 'retry'), ifKept }]);
    expect(await claim(store)).toEqual([]);
    await stand.sql(`update waybell.kept_publications set due_at = due_at - interval '1 hour'`);
    const [sent] = await claim(store);
    expect(sent?.publication).toEqual({ ...aPublication('later', 'retry'), exchange: 'e' });
  });

  test('is counted by destination, together with how long the first has been there', async () => {
    await store.insert([aPublication('a', 'xx'), aPublication('b', 'yyy'), aPublication('a', 'z')]);
    await stand.sql(`update waybell.kept_publications set kept_at = now() - interval '1 minute' where body = 'xx'`);
    expect(await sumsOf(store)).toEqual([
      { routingKey: 'a', publications: 2, bytes: 3 },
      { routingKey: 'b', publications: 1, bytes: 3 },
    ]);
    const [a, b] = await store.look();
    expect(a?.oldestMs).toBeGreaterThanOrEqual(60_000);
    expect(b?.oldestMs).not.toBe(a?.oldestMs);
    await store.remove(await claim(store, 1));
    expect(await sumsOf(store)).toEqual([{ routingKey: 'a', publications: 1, bytes: 1 }]);
  });

  test('is shown to operators without what it says', async () => {
    await store.insert([aPublication('a', 'secret')]);
    await stand.as('waybell_router').insert([aPublication('b', '12')]);
    const of = { exchange: 'waybell.deliveries', publications: 1, oldestAt: expect.any(Number) };
    expect(await keptInAll(stand.database.postgres)).toEqual([
      { keptBy: 'waybell_deliverer', routingKey: 'a', bytes: 6, ...of },
      { keptBy: 'waybell_router', routingKey: 'b', bytes: 2, ...of },
    ]);
  });

  test("is a role's own: no other sees, takes, delays or removes it, whether it logs in so or takes the role on", async () => {
    const router = stand.as('waybell_router');
    await store.insert([aPublication('a', 'mine')]);
    const places = (await store.look()).map(({ destination }) => ({ destination, most: 10 }));
    const keys = await stand.sql<KeptKey>('select destination, id from waybell.kept_publications');
    expect(await router.look()).toEqual([]);
    expect(await router.claim(places, ROOM)).toEqual([]);
    await router.putOff(keys, 60_000);
    await router.remove(keys);
    await router.insert([aPublication('a', 'theirs')]);
    expect(bodiesOf(await claim(store))).toEqual(['mine']);
    expect(bodiesOf(await claim(router))).toEqual(['theirs']);

    const client = await stand.database.postgres.connect();
    try {
      await client.query('set session authorization waybell_router');
      const { rows } = await client.query('select routing_key, publications from waybell.count_kept_publications()');
      expect(rows).toEqual([{ routing_key: 'a', publications: '1' }]);
    } finally {
      client.release(true);
    }
  });
});

describe('a claim', () => {
  test('is of the oldest of each destination, however many there are of another', async () => {
    await store.insert(Array.from({ length: 50 }, (_, n) => aPublication('full', `f${n}`)));
    await store.insert([aPublication('other', 'o0'), aPublication('other', 'o1'), aPublication('other', 'o2')]);
    expect(bodiesOf(await claim(store, 2))).toEqual(['f0', 'f1', 'o0', 'o1']);
    expect(bodiesOf(await claim(store, 2))).toEqual(['f2', 'f3', 'o2']);
  });

  test('weighs no more than it may but for its last', async () => {
    await store.insert(['1234', '5678', '90', 'abc'].map((body) => aPublication('k', body)));
    expect(bodiesOf(await claim(store, 10, { ...ROOM, bytes: 5 }))).toEqual(['1234', '5678']);
    expect(bodiesOf(await claim(store, 10, { ...ROOM, bytes: 1 }))).toEqual(['90']);
  });

  test("is no other process' until its time is over, or it is put off for less", async () => {
    await store.insert([aPublication('k', 'a'), aPublication('k', 'b')]);
    const [a, b] = await claim(store);
    expect(await claim(store)).toEqual([]);
    if (a !== undefined && b !== undefined) {
      await store.putOff([b], 0);
      await store.putOff([a], 600_000);
    }
    expect(bodiesOf(await claim(store))).toEqual(['b']);
    await stand.later(61);
    expect(bodiesOf(await claim(store))).toEqual(['b']);
  });

  test("of one is never another's at the same time, and sums agree with what is there, however many are at it", async () => {
    const stores = [1, 2, 3].map(() => stand.as('waybell_deliverer'));
    const seen: string[] = [];
    const work = async (one: KeptStore, who: number) => {
      for (let round = 0; round < 15; round += 1) {
        await one.insert([
          aPublication(`k${round % 3}`, `${who}.${round}.0`),
          aPublication(`k${(round + 1) % 3}`, `${who}.${round}.1`),
        ]);
        const rows = await claim(one, 2);
        seen.push(...bodiesOf(rows));
        await one.remove(rows);
      }
    };
    await Promise.all(stores.map(work));
    const rest = await claim(store);
    seen.push(...bodiesOf(rest));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(90);
    const [sum] = await stand.sql(`
      select (select count(*) from waybell.kept_publications) = sum(publications) as rows,
        (select coalesce(sum(octet_length(body)), 0) from waybell.kept_publications) = sum(bytes) as bytes
      from waybell.kept_destinations`);
    expect(sum).toEqual({ rows: true, bytes: true });
    await store.remove(rest);
    expect(await store.look()).toEqual([]);
  });
});
