import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Detour } from '@waybell/runtime/testing/detour';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { awaitEnds } from './await-ends.ts';
import { streamCapacity } from '../live/event-stream.ts';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { Us } from '../../testing/live-stand.ts';
import { aDelivered } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog } from '@waybell/runtime/testing/patience';
import { PullStand } from '../../testing/pull-stand.ts';

const store = shared(() => createTestDatabase());
let stand: PullStand | undefined;
afterEach(async () => {
  await stand?.[Symbol.asyncDispose]();
  stand = undefined;
});

async function start(options: Parameters<typeof PullStand.start>[0] = {}): Promise<{ stand: PullStand; us: Us }> {
  stand = await PullStand.start({ beside: { store }, ...options });
  return { stand, us: await stand.someone() };
}

/** Resolves once it has been looked for what is new, twice after this. */
async function isWaited({ api }: PullStand): Promise<void> {
  const looks = new Set<string>();
  await until('it is waited', async () => {
    const { rows } = await api.store.postgres.query<{ at: string }>(
      `select query_start::text as at from pg_stat_activity
       where datname = current_database() and query ~ 'delivery_log.commits where number >' and pid <> pg_backend_pid()`,
    );
    for (const { at } of rows) looks.add(at);
    return looks.size > 2;
  });
}

describe('a request that waits', () => {
  test('is answered once something ends for its client, and not by what ends for others', async () => {
    const { stand: ours, us } = await start();
    const other = await ours.someone();
    const { next } = await ours.all(us, 'oldest');
    const asked = ours.page(us, `after=${next}&wait=20s`);
    await ours.delivered(other, [aDelivered()]);
    await isWaited(ours);
    const guid = await ours.delivered(us, [aDelivered()]);
    expect((await asked).objects.map((each) => each.guid)).toEqual([guid]);
  });

  test("is not told of others' ends, nor of those before it", async () => {
    const { stand: ours, us } = await start();
    const other = await ours.someone();
    await ours.delivered(other, [aDelivered()]);
    await ours.delivered(us, [aDelivered()]);
    const { next } = await ours.all(us, 'oldest');
    const number = Number.parseInt(next, 10);
    using capacity = streamCapacity({ streamsPerClient: 9, streams: 9 });
    await using awaiting = awaitEnds({ database: ours.api.database, capacity, log: silentLog, pollEveryMs: 50 });
    const begin = ({ account, client }: Us) => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      return awaiting.begin({ account, client, interface: 'carrier' }, response, 60_000);
    };
    let isTold = false;
    const told = begin(us)
      .after(number)
      .finally(() => (isTold = true));
    // An end of the other one is before the place of this one.
    expect(await begin(other).after(number - 2)).toBe(true);
    await ours.delivered(other, [aDelivered()]);
    await isWaited(ours);
    expect(isTold).toBe(false);
    await ours.delivered(us, [aDelivered()]);
    expect(await told).toBe(true);
  });

  test('is answered at once where there is something already', async () => {
    const { stand: ours, us } = await start();
    const guid = await ours.delivered(us, [aDelivered()]);
    const { objects, more } = await ours.page(us, 'after=oldest&wait=20s');
    expect([objects.map((each) => each.guid), more]).toEqual([[guid], false]);
  });

  test('is answered with nothing when its time is over, and from where to go on', async () => {
    const { stand: ours, us } = await start();
    const other = await ours.someone();
    const { next } = await ours.all(us, 'oldest');
    const began = wallClockMs();
    const asked = ours.page(us, `after=${next}&wait=1s&status=exhausted`);
    await ours.delivered(us, [aDelivered()]);
    await ours.delivered(other, [aDelivered()]);
    const page = await asked;
    expect(wallClockMs() - began).toBeGreaterThanOrEqual(990);
    expect([page.objects, page.more]).toEqual([[], false]);
    const guid = await ours.delivered(us, [aDelivered()]);
    expect(await ours.guids(us, next)).toHaveLength(2);
    expect(await ours.guids(us, page.next)).toContain(guid);
  });

  test('counts as a stream of its client, of which there are so many', async () => {
    const { stand: ours, us } = await start({ live: { streamsPerClient: 2, streams: 3 } });
    const [other, third] = [await ours.someone(), await ours.someone()];
    const { next } = await ours.all(us, 'oldest');
    const query = `after=${next}&wait=20s`;
    {
      await using _stream = await ours.read(us);
      const waiting = ours.page(us, query);
      const refused = () => ours.api.ask('GET', `/v1/deliveries?after=${next}&wait=1s`, { token: us.token });
      await isWaited(ours);
      expect((await refused()).status).toBe(429);
      await using _others = await ours.read(other);
      const busy = await ours.api.ask('GET', `/v1/deliveries?${query}`, { token: third.token });
      expect(busy.status).toBe(503);
      expect((await ours.page(us, 'after=oldest')).more).toBe(false);
      await ours.delivered(us, [aDelivered()]);
      await waiting;
    }
    await until('those that ended have made room', async () => {
      const { status } = await ours.api.ask('GET', `/v1/deliveries?after=${next}&wait=1s`, { token: us.token });
      return status === 200;
    });
  });

  test('ends with its process', async () => {
    const ending = new AbortController();
    const { stand: ours, us } = await start({ live: { until: ending.signal } });
    const { next } = await ours.all(us, 'oldest');
    const asked = ours.page(us, `after=${next}&wait=20s`);
    await isWaited(ours);
    ending.abort();
    expect(await asked).toMatchObject({ objects: [], next });
    const { status } = await ours.api.ask('GET', `/v1/deliveries?after=${next}&wait=1s`, { token: us.token });
    expect(status).toBe(503);
  });

  test('outlasts a Postgres that is away for a while', async () => {
    const { url } = await borrowPostgres();
    await using proxy = await Detour.to(url);
    const { host } = new URL(proxy.url);
    const { stand: ours, us } = await start({ through: (given) => given.replace(new URL(given).host, host) });
    const { next } = await ours.all(us, 'oldest');
    const asked = ours.page(us, `after=${next}&wait=20s`);
    await isWaited(ours);
    await proxy.shut();
    const guid = await ours.delivered(us, [aDelivered()]);
    await proxy.reopen();
    expect((await asked).objects.map((each) => each.guid)).toEqual([guid]);
  });
});
