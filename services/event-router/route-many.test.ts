import { describe, expect, test } from '@jest/globals';
import type { Fate, Outgoing } from '@waybell/line/messages';
import { handled } from '@waybell/line/testing/handled';
import { heldAtFullRate } from '@waybell/line/testing/held-at-full-rate';
import { messageGuid } from '@waybell/notifications/message-guid';
import { settled } from '@waybell/runtime/turned-clock';
import { readConfig } from './config.ts';
import type { Arrival } from './route-event.ts';
import {
  aSubscription,
  anArrival,
  BROKER,
  finding,
  FIRST,
  GUID,
  publishedOf,
  recordOf,
  router,
  SHIPPER,
} from './testing/an-arrival.ts';

/** Counts the deliveries of the first part. */
function deliveriesIn(fate: Fate | undefined): number {
  if (fate?.kind !== 'done') throw new Error('it failed');
  const { caused } = fate;
  return publishedOf('next' in caused ? (caused.next() ?? []) : caused).length;
}

describe('routeEvents of an event for many', () => {
  const subscriptions = Array.from({ length: 600 }, (_, place) =>
    aSubscription({ guid: `${FIRST.slice(0, -4)}${String(place).padStart(4, '0')}` }),
  );
  const what = { interface: 'carrier', action: 'order.assigned', parties: { carrier: SHIPPER } };
  const large = anArrival({ ...what, payload: { notes: 'x'.repeat(500_000) } });
  const routeAll = router(finding({ [SHIPPER]: subscriptions }));

  async function partsOf(arrival: Arrival): Promise<{ parts: Outgoing[][]; end: () => void }> {
    const caused = await handled(routeAll, arrival);
    if (!('next' in caused)) throw new Error('it is made in one go');
    const parts: Outgoing[][] = [];
    for (let part = caused.next(); part !== undefined; part = caused.next()) parts.push([...part]);
    return { parts, end: caused.end };
  }

  test('makes 256 deliveries at a time, each once, and one record with the last of them', async () => {
    const { parts, end } = await partsOf(anArrival());
    expect(parts.map((part) => publishedOf(part).length)).toEqual([256, 256, 88]);
    expect(parts.map((part) => recordOf(part).length)).toEqual([0, 0, 1]);
    const made = parts.flatMap(publishedOf).map(({ messageId }) => messageId);
    expect(new Set(made).size).toBe(600);
    const [record] = parts.flatMap(recordOf);
    expect(
      record?.kind === 'routed' && record.deliveries.map(({ subscription }) => messageGuid(GUID, subscription)),
    ).toEqual(made);
    end();
  });

  test('makes no more than about 2 MiB of bodies at a time', async () => {
    const { parts, end } = await partsOf(large);
    for (const part of parts) expect(publishedOf(part).length).toBeLessThanOrEqual(5);
    expect(parts.flatMap(publishedOf)).toHaveLength(600);
    end();
  });

  test('makes bodies only when their part is asked for, and has few events do so at a time', async () => {
    const begun = await Promise.all(Array.from({ length: 8 }, () => handled(routeAll, large)));
    let hasBegun = false;
    const next = handled(routeAll, large).then((caused) => {
      hasBegun = true;
      return caused;
    });
    await settled();
    expect(hasBegun).toBe(false);
    if ('end' in begun[0]!) begun[0].end();
    await next;
  });

  describe('while there is no room for its deliveries', () => {
    /** Takes all room, and then lets a batch of two wait, beside one that needs none. */
    async function aWaitingBatch() {
      const line = { asked: [] as number[], subscribed: { [SHIPPER]: subscriptions }, isAway: false };
      const handle = router(async (events) => {
        line.asked.push(events.length);
        if (line.isAway) throw new Error('away');
        return finding(line.subscribed)(events);
      });
      const begun = await Promise.all(Array.from({ length: 8 }, () => handled(handle, large)));
      line.asked.length = 0;
      const begin = await handle([large, anArrival({ parties: { shipper: BROKER } }), large]);
      const fates: Record<number, Fate> = {};
      for (const place of [0, 1, 2]) begin(place, (fate) => (fates[place] = fate));
      await settled();
      expect(Object.keys(fates)).toEqual(['1']);
      const giveRoom = () => {
        const [caused] = begun;
        if (caused !== undefined && 'end' in caused) caused.end();
        return settled();
      };
      return { line, fates, giveRoom };
    }

    test('waits, and then has the subscriptions found again', async () => {
      const { line, fates, giveRoom } = await aWaitingBatch();
      line.subscribed = { [SHIPPER]: [aSubscription()] };
      await giveRoom();
      expect(deliveriesIn(fates[0])).toBe(1);
      // The other still waits.
      expect(Object.keys(fates)).toEqual(['0', '1']);
      expect(line.asked).toEqual([3, 1]);
    });

    test('takes once more what it needs by then, and leaves all of it to others at its end', async () => {
      const line = { subscribed: { [SHIPPER]: subscriptions } };
      const handle = router((events) => finding(line.subscribed)(events));
      const routeEight = () => Array.from({ length: 8 }, () => handled(handle, large));
      const [first, ...others] = await Promise.all(routeEight());
      line.subscribed = { [SHIPPER]: [aSubscription()] };
      const waiting = handled(handle, large);
      await settled();
      line.subscribed = { [SHIPPER]: subscriptions };
      const end = (caused: typeof first) => caused !== undefined && 'end' in caused && caused.end();
      end(first);
      for (const each of [...others, await waiting]) end(each);
      let begun = 0;
      for (const each of routeEight()) void each.then(() => (begun += 1));
      await settled();
      expect(begun).toBe(8);
    });

    test('fails alone where they are not found again, and leaves the room to others', async () => {
      const { line, fates, giveRoom } = await aWaitingBatch();
      line.isAway = true;
      await giveRoom();
      expect(fates).toMatchObject({ 0: { kind: 'failed' }, 1: { kind: 'done' }, 2: { kind: 'failed' } });
    });
  });
});

test('the router holds more than comes while records wait, at the full rate of a process', () => {
  const env = { AMQP_URL: 'amqp://a', DATABASE_URL: 'postgres://a', REDIS_URL: 'redis://a' };
  expect(readConfig(env).inHandLimit.messages).toBeGreaterThan(heldAtFullRate());
});
