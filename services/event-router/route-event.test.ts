import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { readDelivery } from '@waybell/line/delivery';
import type { Message } from '@waybell/line/messages';
import { causedAtOnce, causedBy, fatesOf } from '@waybell/line/testing/handled';
import { messageGuid } from '@waybell/notifications/message-guid';
import type { ActiveSubscription } from './find-subscriptions.ts';
import { repeatEvent, type Arrival } from './route-event.ts';
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
    expect(published.map(({ messageId }) => messageId)).toEqual([FIRST, SECOND].map((each) => messageGuid(GUID, each)));
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
    expect(publication?.headers).toEqual({ traceparent: TRACE });
  });

  test.each(['', 'none', `${TRACE}\r\nx-injected: 1`, TRACE.toUpperCase(), `${TRACE}0`])(
    'passes on no header that is not a trace: %j',
    async (traceparent) => {
      const arrival = anArrival({}, { traceparent });
      const [publication] = publishedOf(await route(arrival, { [SHIPPER]: [aSubscription()] }));
      expect(publication?.headers).toBeUndefined();
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
    const suppressed = [{ reason: 'duplicate' }];
    expect(recordOf(caused)).toMatchObject([{ event: GUID, at: NOW, deliveries: [], suppressed }]);
    expect(caused).toHaveLength(1);
  });

  test('rejects another event with the same guid', () => {
    expect(repeatEvent(anArrival(), { isSame: false, at: NOW })).toMatchObject([
      { kind: 'reject', reason: 'guid_reused' },
    ]);
  });
});
