import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { readDelivery } from '@waybell/line/delivery';
import { type Message, type Fate, isRejection, type Outgoing } from '@waybell/line/messages';
import { causedAtOnce, causedBy, fatesOf, handled } from '@waybell/line/testing/handled';
import { messageGuid } from '@waybell/notifications/notification';
import { settled } from '@waybell/runtime/turned-clock';
import { heldAtFullRate } from '@waybell/line/testing/held-at-full-rate';
import { type ActiveSubscription, repeatEvent, type Arrival } from './route-event.ts';
import {
  aSubscription,
  anArrival,
  BROKER,
  finding,
  FIRST,
  GUID,
  NOW,
  publishedOf,
  recordOf,
  router,
  SECOND,
  SHIPPER,
} from './testing/an-arrival.ts';
import { readConfig } from './config.ts';

const UNKNOWN = 'e3e3e3e3-e3e3-4e3e-8e3e-e3e3e3e3e3e3';
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Routes an arrival to the subscriptions of each account. */
const route = (arrival: Arrival, subscribed: Record<string, ActiveSubscription[]>) =>
  causedBy(router(finding(subscribed)), arrival);

describe('routeEvents', () => {
  test('makes a delivery that the deliverer reads, to the queue of its action', async () => {
    const [publication] = publishedOf(await route(anArrival(), { [SHIPPER]: [aSubscription()] }));
    expect(publication).toMatchObject({ exchange: 'waybell.deliveries', routingKey: 'shipper.order.paid' });
    const message = { queue: '', deliveryCount: 0, failures: 0, ...publication } as Message;
    expect(readDelivery(message)).toMatchObject({
      interface: 'shipper',
      action: 'order.paid',
      subscription: FIRST,
      generation: 2,
      event: GUID,
      attempt: 1,
      createdAt: NOW,
      // oxlint-disable-next-line fixtures/no-like-values -- nothing was attempted yet
      beganAt: NOW,
    });
  });

  test('makes one delivery for each subscription of each receiver, and one record of all', async () => {
    const arrival = anArrival({
      action: 'escalation.resolved',
      parties: { shipper: SHIPPER, broker: BROKER },
      payload: { order_guid: GUID, resolver_guid: FIRST, escalation_guid: UNKNOWN, resolve_reasons: null },
    });
    const caused = await route(arrival, { [SHIPPER]: [aSubscription()], [BROKER]: [aSubscription({ guid: SECOND })] });
    const published = publishedOf(caused);
    expect(published.map(({ delivery }) => delivery?.guid)).toEqual(
      [FIRST, SECOND].map((each) => messageGuid(GUID, each)),
    );
    expect(recordOf(caused)).toMatchObject([
      {
        kind: 'routed',
        event: GUID,
        at: NOW,
        deliveries: [
          { subscription: FIRST, account: SHIPPER },
          { subscription: SECOND, account: BROKER },
        ],
        suppressed: [],
      },
    ]);
  });

  test('makes the same deliveries when it runs twice', async () => {
    const once = async () => publishedOf(await route(anArrival(), { [SHIPPER]: [aSubscription()] }));
    expect(await once()).toEqual(await once());
  });

  test('says that no client has subscribed', async () => {
    const caused = await route(anArrival(), {});
    expect(publishedOf(caused)).toEqual([]);
    const suppressed = [{ reason: 'no_subscription', account: SHIPPER }];
    expect(recordOf(caused)).toMatchObject([{ deliveries: [], suppressed }]);
  });

  test('suppresses for one subscription without holding back the other', async () => {
    const subscribed = [aSubscription({ isFeatureOn: false, client: 'other' }), aSubscription({ guid: SECOND })];
    const caused = await route(anArrival(), { [SHIPPER]: subscribed });
    // Only that client is told of it.
    const suppressed = [{ reason: 'feature_off', account: SHIPPER, client: 'other', subscription: FIRST }];
    expect(recordOf(caused)).toMatchObject([{ deliveries: [{ subscription: SECOND }], suppressed }]);
  });

  test('weighs an event by what it unpacks to', () => {
    const payload = { order_guid: GUID, note: ' '.repeat(5_000) };
    const { event, keptFor, bytes } = anArrival({ payload });
    const { body } = keptFor(event.receivers);
    expect(anArrival({}, { body: gzipSync(body), contentEncoding: 'gzip' }).bytes).toBe(bytes);
  });

  test('passes the trace on', async () => {
    const arrival = anArrival({}, { traceparent: TRACE });
    const [publication] = publishedOf(await route(arrival, { [SHIPPER]: [aSubscription()] }));
    expect(publication?.delivery?.traceparent).toBe(TRACE);
  });

  test.each(['', 'none', `${TRACE}\r\nx-injected: 1`, TRACE.toUpperCase(), `${TRACE}0`])(
    'passes on no header that is not a trace: %j',
    async (traceparent) => {
      const arrival = anArrival({}, { traceparent });
      const [publication] = publishedOf(await route(arrival, { [SHIPPER]: [aSubscription()] }));
      expect(publication?.delivery).not.toHaveProperty('traceparent');
    },
  );

  test('finds the subscriptions of a batch in one go, and says of each event what became of it', async () => {
    const [found, none, unknown] = [SHIPPER, BROKER, UNKNOWN].map((shipper) => anArrival({ parties: { shipper } }));
    const asked: number[] = [];
    const find = finding({ [SHIPPER]: [aSubscription()], [UNKNOWN]: undefined });
    const handle = router((events) => {
      asked.push(events.length);
      return find(events);
    });
    const fates = await fatesOf(
      handle,
      [found, none, unknown, found].flatMap((each) => each ?? []),
    );
    const caused = fates.map(causedAtOnce);
    expect(asked).toEqual([4]);
    expect(caused.map((each) => publishedOf(each).length)).toEqual([1, 0, 0, 1]);
    const suppressed = [{ reason: 'no_subscription' }];
    // Only accounts that are known have their events kept.
    expect(caused.flatMap(recordOf)).toMatchObject([
      { deliveries: [{ account: SHIPPER }], suppressed: [], kept: { accounts: [SHIPPER] } },
      { deliveries: [], suppressed, kept: { accounts: [BROKER] } },
      { deliveries: [], suppressed },
      { deliveries: [{ account: SHIPPER }] },
    ]);
    expect(caused.flatMap(recordOf)[2]).not.toHaveProperty('kept');
  });

  test('fails where subscriptions cannot be found, and makes nothing', async () => {
    const handle = router(() => Promise.reject(new Error('away')));
    await expect(fatesOf(handle, [anArrival(), anArrival()])).rejects.toThrow('away');
  });
});

describe('repeatEvent', () => {
  test('records the same event as a duplicate', () => {
    const caused = repeatEvent(anArrival(), { isSame: true, at: NOW });
    if (isRejection(caused)) throw new Error(caused.detail);
    const suppressed = [{ reason: 'duplicate' }];
    expect(recordOf(caused)).toMatchObject([{ event: GUID, at: NOW, deliveries: [], suppressed }]);
    expect(caused).toHaveLength(1);
  });

  test('rejects another event with the same guid', () => {
    expect(repeatEvent(anArrival(), { isSame: false, at: NOW })).toMatchObject({
      kind: 'reject',
      reason: 'guid_reused',
    });
  });
});

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
    const made = parts.flatMap(publishedOf).map(({ delivery }) => delivery?.guid);
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
      const begin = await handle([large, anArrival({ parties: { shipper: BROKER } }), large], () => true);
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
