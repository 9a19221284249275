import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeptPublications } from '@waybell/line/kept/kept-publications';
import type { KeptStore } from '@waybell/line/kept/kept-store';
import { aPublication, SomeBroker } from '@waybell/line/kept/testing/some-broker';
import { settled } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { until } from '@waybell/runtime/testing/until';
import { aKeeper, KeptStand } from './kept-stand.ts';

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

const keepAll = (kept: KeptPublications, key: string, bodies: readonly string[]) =>
  Promise.all(bodies.map((body) => kept.keep(aPublication(key, body))));
const numbers = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
/** How often it looks at what is kept. */
const LOOK_MS = 10_000;
/** How long it waits at its end for what is under way. */
const CONFIRM_LIMIT_MS = 2_000;

const untilEmpty = () => until('nothing is kept', async () => (await stand.count()) === 0);

describe('while the broker takes nothing', () => {
  test('what is kept waits, and is all sent on, once each, when it takes messages again', async () => {
    const { kept, broker, clock } = aKeeper({ store, broker: new SomeBroker('blocked') });
    const [some, others] = [numbers('a', 300), numbers('b', 40)];
    await Promise.all([keepAll(kept, 'a', some), keepAll(kept, 'b', others)]);
    expect(kept.figures()).toMatchObject({ publications: 340, keptTotal: 340, sentOnTotal: 0 });
    // By the second look the first has come to its end. The clock goes on until each is there: it waits for Postgres beside that.
    for (let oldestMs = 0, looks = 0; looks < 2; looks += 1) {
      oldestMs = await until('it has looked', async () => {
        await clock.runFor(LOOK_MS);
        return kept.figures().oldestMs > oldestMs && kept.figures().oldestMs;
      });
    }
    expect(broker.asked).toEqual([]);
    broker.become('writable');
    await untilEmpty();
    expect(broker.bodies.toSorted()).toEqual([...some, ...others].toSorted());
    await until('it is counted', () => kept.figures().publications === 0);
    expect(kept.figures()).toEqual({ publications: 0, bytes: 0, oldestMs: 0, keptTotal: 340, sentOnTotal: 340 });
    await kept[Symbol.asyncDispose]();
  });

  test('and Postgres is away: nothing is said to be kept', async () => {
    const impatient = stand.as('waybell_deliverer', 300);
    const { kept } = aKeeper({ store: impatient, broker: new SomeBroker('blocked') });
    const client = await stand.database.postgres.connect();
    try {
      await client.query('begin; lock table waybell.kept_publications');
      await expect(kept.keep(aPublication('a', 'x'))).rejects.toThrow(Unavailable);
    } finally {
      client.release(true);
    }
    expect(await stand.count()).toBe(0);
    await until('it can keep again', () => kept.keep(aPublication('a', 'y')).then(() => true));
    expect(await stand.count()).toBeGreaterThan(0);
    await kept[Symbol.asyncDispose]();
  });

  test('no more is kept than may be; what is sent on makes room', async () => {
    const { kept, broker } = aKeeper({ store, broker: new SomeBroker('blocked'), mostBytes: 10 });
    await keepAll(kept, 'a', ['12345', '67890']);
    const refused = await kept.keep(aPublication('a', 'x')).catch((error: unknown) => error);
    if (!(refused instanceof Unavailable)) throw new Error('it was kept');
    await expect(refused.probe()).rejects.toThrow('as much is kept');
    broker.become('writable');
    await until('there is room', () => refused.probe().then(() => true));
    await kept.keep(aPublication('a', 'x'));
    await kept[Symbol.asyncDispose]();
  });
});

describe('several processes', () => {
  test('share what is kept and send nothing twice', async () => {
    const bodies = numbers('a', 500);
    const keepers = [1, 2].map(() =>
      aKeeper({ store: stand.as('waybell_deliverer'), broker: new SomeBroker('blocked') }),
    );
    for (const [which, { kept }] of keepers.entries())
      await keepAll(kept, 'a', bodies.slice(which * 250, which * 250 + 250));
    for (const { broker } of keepers) broker.become('writable');
    await untilEmpty();
    expect(keepers.flatMap(({ broker }) => broker.bodies).toSorted()).toEqual(bodies.toSorted());
    for (const { kept } of keepers) await kept[Symbol.asyncDispose]();
  });

  test('send what one of them left that was killed: what it had under way, too, after the lease', async () => {
    const killed = aKeeper({ store, broker: new SomeBroker('blocked') });
    await keepAll(killed.kept, 'a', ['1', '2']);
    const never = Promise.withResolvers<void>();
    killed.broker.refused.set('a', never.promise);
    killed.broker.become('writable');
    await until('it has them under way', () => killed.broker.asked.length === 2);
    const other = aKeeper({ store: stand.as('waybell_deliverer') });
    await until('it has looked', () => other.kept.figures().publications === 2);
    expect(other.broker.asked).toEqual([]);
    await stand.later(41);
    await until('they are sent', async () => {
      await other.clock.runFor(10_000);
      return other.broker.taken.length === 2;
    });
    await untilEmpty();
    await other.kept[Symbol.asyncDispose]();
    never.resolve();
    await killed.kept[Symbol.asyncDispose]();
  });

  test('leave alone what another has under way for long', async () => {
    const slow = aKeeper({ store, broker: new SomeBroker('blocked') });
    await slow.kept.keep(aPublication('a', '1'));
    const confirm = Promise.withResolvers<void>();
    slow.broker.refused.set('a', confirm.promise);
    slow.broker.become('writable');
    await until('it has it under way', () => slow.broker.asked.length === 1);
    await stand.later(41);
    await slow.clock.runFor(10_000);
    await until('its lease is renewed', async () => {
      const [row] = await stand.sql<{ isLater: boolean }>(
        'select due_at > now() as "isLater" from waybell.kept_publications',
      );
      return row?.isLater;
    });
    const other = aKeeper({ store: stand.as('waybell_deliverer') });
    await until('it has looked', () => other.kept.figures().publications === 1);
    confirm.resolve();
    await untilEmpty();
    expect(other.broker.asked).toEqual([]);
    await Promise.all([slow, other].map(({ kept }) => kept[Symbol.asyncDispose]()));
  });
});

describe('at its end', () => {
  test('it begins nothing, waits for what is under way, and removes that', async () => {
    const { kept, broker } = aKeeper({ store, broker: new SomeBroker('blocked') });
    await keepAll(kept, 'a', ['1', '2']);
    const confirm = Promise.withResolvers<void>();
    broker.refused.set('a', confirm.promise);
    broker.become('writable');
    await until('they are under way', () => broker.asked.length === 2);
    await kept.keep(aPublication('b', '3'));
    const closed = kept[Symbol.asyncDispose]();
    confirm.resolve();
    await closed;
    expect(broker.bodies).toEqual(['1', '2']);
    expect(await stand.sql('select convert_from(body, $$utf8$$) as body from waybell.kept_publications')).toEqual([
      { body: '3' },
    ]);
  });

  test.each(['writable', 'blocked'] as const)(
    "what is not confirmed in time is at once another's, where the broker is %s",
    async (state) => {
      const { kept, broker, clock } = aKeeper({ store, broker: new SomeBroker('blocked') });
      await keepAll(kept, 'a', ['1', '2']);
      const never = Promise.withResolvers<void>();
      broker.refused.set('a', never.promise);
      broker.become('writable');
      await until('they are under way', () => broker.asked.length === 2);
      broker.become(state);
      let isClosed = false;
      void kept[Symbol.asyncDispose]().then(() => (isClosed = true));
      if (state === 'writable') {
        // No further: what gives it back has a limit of its own, and takes its time on Postgres.
        await until('it waits for confirms', () => clock.nextAt() === clock.now() + CONFIRM_LIMIT_MS);
        await clock.runFor(CONFIRM_LIMIT_MS);
      }
      await until('it is closed', () => isClosed);
      const other = aKeeper({ store: stand.as('waybell_deliverer') });
      await untilEmpty();
      expect(other.broker.bodies).toEqual(['1', '2']);
      await other.kept[Symbol.asyncDispose]();
      never.resolve();
      await settled();
    },
  );
});
