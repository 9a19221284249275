import { describe, expect, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { readDelivery } from '@waybell/line/delivery';
import { type Message, type Outgoing } from '@waybell/line/messages';
import { messageGuid } from '@waybell/notifications/message-guid';
import type { ActiveSubscription } from './find-subscriptions.ts';
import { readArrival, repeatEvent, routeEvent, type Arrival } from './route-event.ts';

const GUID = 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0';
const [SHIPPER, BROKER] = ['e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1', 'e2e2e2e2-e2e2-4e2e-8e2e-e2e2e2e2e2e2'];
const [FIRST, SECOND] = ['51515151-5151-4515-8515-515151515151', '52525252-5252-4525-8525-525252525252'];
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const NOW = 1_700_000_000_000;

const aSubscription = (what: Partial<ActiveSubscription> = {}): ActiveSubscription => ({
  guid: FIRST,
  client: 'default',
  generation: 2,
  auditFieldSet: null,
  isFeatureOn: true,
  ...what,
});

function anArrival(what: object = {}, message: Partial<Message> = {}): Arrival {
  const event = {
    guid: GUID,
    interface: 'shipper',
    action: 'order.paid',
    occurred_at: '2026-11-20T09:30:00Z',
    parties: { shipper: SHIPPER },
    payload: { order_guid: GUID },
    ...what,
  };
  const read = readArrival({ maxBytes: 2 ** 20, maxDepth: 32 })({
    queue: 'waybell.events.router',
    exchange: 'waybell.events',
    routingKey: `${event.interface}.${event.action}`,
    body: Buffer.from(JSON.stringify(event)),
    deliveryCount: 0,
    failures: 0,
    ...message,
  });
  if ('kind' in read) throw new Error(read.detail);
  return read;
}

/** Routes an arrival to the subscriptions of each account. */
async function route(arrival: Arrival, subscribed: Record<string, ActiveSubscription[]>) {
  const findSubscriptions = async (_: unknown, account: string) => subscribed[account] ?? [];
  const caused = await routeEvent({ findSubscriptions, now: () => NOW })(arrival);
  if ('next' in caused) throw new Error('it is made in parts');
  return caused;
}

const recordOf = (caused: Outgoing[]) => caused.flatMap((each) => (each.kind === 'outcome' ? [each.outcome] : []));
const publishedOf = (caused: Outgoing[]) => caused.flatMap((each) => (each.kind === 'publish' ? [each] : []));

describe('routeEvent of an event for many', () => {
  const subscriptions = Array.from({ length: 600 }, (_, place) =>
    aSubscription({ guid: `${FIRST.slice(0, -4)}${String(place).padStart(4, '0')}` }),
  );
  const routeAll = routeEvent({
    findSubscriptions: async () => subscriptions,
    now: () => NOW,
  });

  async function partsOf(arrival: Arrival): Promise<{ parts: Outgoing[][]; end: () => void }> {
    const caused = await routeAll(arrival);
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
    const what = { interface: 'carrier', action: 'order.assigned', parties: { carrier: SHIPPER } };
    const { parts, end } = await partsOf(anArrival({ ...what, payload: { notes: 'x'.repeat(500_000) } }));
    for (const part of parts) expect(publishedOf(part).length).toBeLessThanOrEqual(5);
    expect(parts.flatMap(publishedOf)).toHaveLength(600);
    end();
  });

  test('makes bodies only when their part is asked for, and has few events do so at a time', async () => {
    const what = { interface: 'carrier', action: 'order.assigned', parties: { carrier: SHIPPER } };
    const large = anArrival({ ...what, payload: { notes: 'x'.repeat(500_000) } });
    const begun = await Promise.all(Array.from({ length: 8 }, () => routeAll(large)));
    let hasBegun = false;
    const next = routeAll(large).then((caused) => {
      hasBegun = true;
      return caused;
    });
    await settled();
    expect(hasBegun).toBe(false);
    if ('end' in begun[0]!) begun[0].end();
    await next;
  });
});

describe('routeEvent', () => {
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
      beganAt: NOW,
    });
  });

  test('makes one delivery for each subscription of each receiver, and one record of all', async () => {
    const arrival = anArrival({
      action: 'escalation.resolved',
      parties: { shipper: SHIPPER, broker: BROKER },
      payload: { order_guid: GUID, resolver_guid: GUID, escalation_guid: GUID, resolve_reasons: null },
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
    expect(recordOf(caused)).toMatchObject([{ deliveries: [], suppressed: [{ reason: 'no_subscription' }] }]);
  });

  test('suppresses for one subscription without holding back the other', async () => {
    const subscribed = [aSubscription({ isFeatureOn: false }), aSubscription({ guid: SECOND })];
    const caused = await route(anArrival(), { [SHIPPER]: subscribed });
    expect(recordOf(caused)).toMatchObject([
      { deliveries: [{ subscription: SECOND }], suppressed: [{ reason: 'feature_off', subscription: FIRST }] },
    ]);
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

  test('fails where subscriptions cannot be found, and makes nothing', async () => {
    const findSubscriptions = async () => {
      throw new Error('away');
    };
    const handle = routeEvent({ findSubscriptions, now: () => NOW });
    await expect(handle(anArrival())).rejects.toThrow('away');
  });
});

describe('repeatEvent', () => {
  test('records the same event as a duplicate', () => {
    const caused = repeatEvent(anArrival(), { isSame: true, at: NOW });
    expect(recordOf(caused)).toMatchObject([{ event: GUID, deliveries: [], suppressed: [{ reason: 'duplicate' }] }]);
    expect(caused).toHaveLength(1);
  });

  test('rejects another event with the same guid', () => {
    expect(repeatEvent(anArrival(), { isSame: false, at: NOW })).toMatchObject([
      { kind: 'reject', reason: 'guid_reused' },
    ]);
  });
});
