import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import fc from 'fast-check';
import type { Us } from '../../testing/live-stand.ts';
import { aDelivered, aFailed, anExhausted } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';
import { PullStand } from '../../testing/pull-stand.ts';

const stand = shared(() => PullStand.start());
let us: Us;
/**
 * Has the rows of a delivery wait in Postgres before they are there, until they are let go. Its trigger stays, and no row waits for it
 * again: to drop it would lock tables that are still written, in another order.
 */
async function heldUp(table: string, isIt: string) {
  const name = `hold_${randomUUID().replaceAll('-', '')}`;
  const holder = await stand.api.store.postgres.connect();
  await holder.query(`select pg_advisory_lock(hashtext('${name}'))`);
  await stand.log.rows(`create function public.${name}() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock_shared(hashtext('${name}')); return new; end $$`);
  await stand.log.rows(`create trigger ${name} before insert on delivery_log.${table} for each row
    when (${isIt}) execute function public.${name}()`);
  return {
    isWaiting: () =>
      until('it waits', async () => {
        const waiting = await stand.log.rows(
          `select from pg_locks where locktype = 'advisory' and not granted and objid::bigint = hashtext('${name}')::bit(32)::bigint`,
        );
        return waiting.length > 0;
      }),
    async [Symbol.asyncDispose]() {
      await holder.query(`select pg_advisory_unlock(hashtext('${name}'))`);
      holder.release();
    },
  };
}

describe('the log, read on', () => {
  test('tells what a slow transaction wrote after what was committed meanwhile, and nothing twice', async () => {
    us = await stand.someone();
    const first = await stand.delivered(us, [aDelivered()]);
    const event = randomUUID();
    const slow = messageGuid(event, us.subscription);
    let writing: Promise<unknown>;
    let next: string;
    {
      await using held = await heldUp('attempts', `new.delivery = '${slow}'`);
      writing = stand.log.log([aDelivered({ at: wallClockMs() })], { ...us, event, at: wallClockMs() });
      await held.isWaiting();
      const second = await stand.delivered(us, [aDelivered()]);
      const read = await stand.all(us, 'oldest');
      expect(read.found.map(({ guid }) => guid)).toEqual([first, second]);
      next = read.next;
    }
    await writing;
    expect(await stand.guids(us, next)).toEqual([slow]);
  });

  test('has no transaction become visible before one with lower numbers', async () => {
    us = await stand.someone();
    const { next } = await stand.all(us, 'oldest');
    const written: string[] = [];
    const writing: Promise<unknown>[] = [];
    {
      const [commit] = await stand.log.rows<{ number: string }>(
        'select coalesce(max(number), 0)::int + 1 as number from delivery_log.commits',
      );
      await using held = await heldUp('commits', `new.number = ${commit?.number}`);
      const write = () => stand.delivered(us, [aDelivered()]).then((guid) => written.push(guid));
      writing.push(write());
      await held.isWaiting();
      writing.push(write());
      await until('the other waits for its turn', async () => {
        const waiting = await stand.log.rows(
          `select from pg_stat_activity where datname = current_database() and query ~ 'commit_numbers'
             and wait_event_type = 'Lock' and wait_event = 'advisory'`,
        );
        return waiting.length === 2;
      });
      expect(await stand.page(us, `after=${next}`)).toMatchObject({ objects: [], next });
    }
    await Promise.all(writing);
    expect((await stand.guids(us, next)).toSorted()).toEqual(written.toSorted());
  });

  test('tells what comes after a place also where the numbers of commits are set back', async () => {
    us = await stand.someone();
    await stand.delivered(us, [aDelivered()]);
    const { next } = await stand.page(us, 'after=oldest');
    await stand.log.rows(`select setval('delivery_log.commit_numbers', 1)`);
    stand.log.now += 1;
    const later = [await stand.delivered(us, [aDelivered()]), await stand.delivered(us, [aDelivered()])];
    expect(await stand.guids(us, next)).toEqual(later);
  });

  test('tells each end once, in one order, whatever is written and read meanwhile', async () => {
    us = await stand.someone();
    const other = await stand.someone();
    const step = fc.record({
      ends: fc.array(fc.constantFrom('delivered', 'exhausted', 'retried', 'failed', "another's"), { maxLength: 4 }),
      agoMs: fc.constantFrom(0, 50, 3_000, 90_000, 7_200_000),
      isAwaited: fc.boolean(),
      limit: fc.integer({ min: 1, max: 5 }),
    });
    const attemptsOf = {
      delivered: [aDelivered({ body: '{}' })],
      exhausted: [anExhausted()],
      retried: [aFailed({ body: '{}' }), aDelivered({ attempt: 2 })],
      failed: [aFailed({ body: '{}' })],
      "another's": [aDelivered({ body: '{}' })],
    };
    await stand.log.partitions.ensure([wallClockMs() - 7_200_000]);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
        const { next: begun } = await stand.all(us, 'oldest', '&limit=200');
        const [told, expected] = [new Array<string>(), new Set<string>()];
        const writing: Promise<unknown>[] = [];
        let next = begun;
        for (const { ends, agoMs, isAwaited, limit } of steps) {
          for (const kind of ends) {
            const whose = kind === "another's" ? other : us;
            writing.push(
              stand.delivered(whose, attemptsOf[kind], agoMs).then((guid) => {
                if (kind !== "another's" && kind !== 'failed') expected.add(guid);
              }),
            );
          }
          if (isAwaited) await Promise.all(writing.splice(0));
          const page = await stand.page(us, `after=${next}&limit=${limit}`);
          told.push(...page.objects.map(({ guid }) => guid));
          next = page.next;
        }
        await Promise.all(writing);
        told.push(...(await stand.guids(us, next, '&limit=3')));
        expect(new Set(told)).toEqual(expected);
        expect(told).toHaveLength(expected.size);
        expect(await stand.guids(us, begun)).toEqual(told);
      }),
      { numRuns: 15 },
    );
  });
});
