import { describe, expect, test } from '@jest/globals';
import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import type { Publication } from '@waybell/line/messages';
import {
  listRejected,
  NotRejected,
  purgeRejected,
  replaceRejected,
  retryRejected,
  SeveralRejected,
  showRejected,
  isEvent,
  returnRouteOf,
} from './rejected-messages.ts';
import { aRejected } from './testing/a-rejected.ts';

const EVENT = '0b4f2f4e-5d0a-4a35-9a3c-1f6c7b1d8e01';
const ORDER = '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11';
const about = (order: string, guid = EVENT) => Buffer.from(JSON.stringify({ guid, payload: { id: 4711, order } }));

/** Some messages in hand, and those of them that were removed. */
function inHand(...messages: RejectedMessage[]) {
  const removed: string[] = [];
  return {
    removed,
    async *messages() {
      yield* messages;
    },
    remove: ({ id }: RejectedMessage) => void removed.push(id),
  };
}

/** Until there are no more. */
async function all<T>(some: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of some) found.push(each);
  return found;
}

const late = aRejected({ id: 'late', rejectedAt: '2026-11-20T09:31:00.000Z', reason: 'not_json' });
const early = aRejected({ id: 'early', body: about(ORDER) });

describe('listRejected', () => {
  test('lists all, the oldest first, or those of a reason, or about something', async () => {
    const queue = () => inHand(late, early);
    expect((await listRejected(queue())).map(({ id }) => id)).toEqual(['early', 'late']);
    expect(await listRejected(queue(), { reason: 'not_json' })).toMatchObject([{ id: 'late', size: 2 }]);
    for (const key of [ORDER, ORDER.toUpperCase(), EVENT, '4711'])
      expect((await listRejected(queue(), { about: key })).map(({ id }) => id)).toEqual(['early']);
    expect(await listRejected(queue(), { about: '471' })).toEqual([]);
  });
});

describe('showRejected', () => {
  const other = aRejected({ id: 'other', messageId: ORDER, body: about('x', ORDER) });

  test.each([
    ['its id', 'early'],
    ['the guid of its event', EVENT],
    ['a key that it alone names', 'mine'],
  ])('finds one by %s', async (_what, name) => {
    const mine = aRejected({ id: 'early', body: about('mine') });
    expect(await showRejected(inHand(late, mine, other), name)).toBe(mine);
  });

  test('takes one that is called so rather than one that names it', async () => {
    expect(await showRejected(inHand(early, other), ORDER)).toBe(other);
  });

  test('says which there are where several name it, and that there is none', async () => {
    await expect(showRejected(inHand(early, other), '4711')).rejects.toThrow(SeveralRejected);
    await expect(showRejected(inHand(early), 'x')).rejects.toThrow(NotRejected);
  });
});

describe('retryRejected', () => {
  test('publishes each, and removes it once the broker has it', async () => {
    const published: Publication[] = [];
    const publish = async (publication: Publication) => {
      published.push(publication);
      return published.length === 1 ? ('confirmed' as const) : ('unroutable' as const);
    };
    const queue = inHand(early, late);
    const results = await all(retryRejected(queue, { publish }, { kind: 'all' }));
    expect(results).toMatchObject([
      { id: 'early', kind: 'retried', to: 'waybell.events carrier.order.created' },
      { id: 'late', kind: 'stays' },
    ]);
    expect(queue.removed).toEqual(['early']);
  });

  test('removes nothing of which the broker does not say that it has it', async () => {
    const publish = async () => Promise.reject(new Error('no confirm'));
    const queue = inHand(early);
    const retried = all(retryRejected(queue, { publish }, { kind: 'ids', ids: [EVENT] }));
    await expect(retried).rejects.toThrow(/no confirm.* early stays/);
    expect(queue.removed).toEqual([]);
  });
});

describe('replaceRejected', () => {
  const publication: Publication = {
    kind: 'publish',
    exchange: 'waybell.events',
    routingKey: 'k',
    body: Buffer.from('{}'),
  };

  test('publishes what takes its place, and removes it once the broker has that', async () => {
    const queue = inHand(early, late);
    const published: unknown[] = [];
    const publish = async (each: Publication) => {
      published.push(each, queue.removed.length);
      return 'confirmed' as const;
    };
    await replaceRejected(queue, { publish }, { id: 'late', publication });
    expect([published, queue.removed]).toEqual([[publication, 0], ['late']]);
  });

  test('removes nothing that the broker does not confirm, is no event, or is not there', async () => {
    const queue = inHand(early, { ...late, exchange: 'waybell.ends' });
    const publish = () => Promise.reject(new Error('no confirm'));
    const replace = (id: string) => replaceRejected(queue, { publish }, { id, publication });
    await expect(replace('early')).rejects.toThrow('no confirm');
    await expect(replace('late')).rejects.toThrow('late is not an event');
    await expect(replace('x')).rejects.toThrow(NotRejected);
    expect(queue.removed).toEqual([]);
  });
});

describe('purgeRejected', () => {
  test('removes what is meant, unless it is only tried', async () => {
    const queue = inHand(early, late);
    const selection = { kind: 'about', key: ORDER } as const;
    for (const isTrial of [true, false]) {
      const purged = await all(purgeRejected(queue, selection, { isTrial }));
      expect(purged.map(({ id }) => id)).toEqual(['early']);
      expect(queue.removed).toEqual(isTrial ? [] : ['early']);
    }
  });

  test('says which names nothing is called by', async () => {
    const purged = all(purgeRejected(inHand(early), { kind: 'ids', ids: [EVENT, 'x'] }, { isTrial: true }));
    await expect(purged).rejects.toThrow('not there: x;');
  });
});

const EVENT_KEY = 'carrier.order.created';
const DELIVERY = { type: EVENT_KEY, queue: `waybell.deliveries.${EVENT_KEY}` };

describe('returnRouteOf', () => {
  test.each([
    ['an event', {}, { exchange: 'waybell.events', routingKey: EVENT_KEY }],
    [
      'a mistyped event, by the same exchange and key',
      { queue: 'waybell.strays', routingKey: 'carrier.order.createt' },
      { exchange: 'waybell.events', routingKey: 'carrier.order.createt' },
    ],
    ['a delivery', { ...DELIVERY, exchange: 'waybell.deliveries' }, 'delivery'],
    ['a delivery back from its retry queue', { ...DELIVERY, exchange: 'waybell.returns' }, 'delivery'],
    [
      'a delivery on its way to a retry queue',
      { ...DELIVERY, exchange: 'waybell.retry', routingKey: `${EVENT_KEY}.1s` },
      'delivery',
    ],
    ['a delivery on its way to where it waits', { ...DELIVERY, exchange: 'waybell.waiting' }, 'delivery'],
    [
      'one that the broker gave up where it waited',
      { ...DELIVERY, queue: 'waybell.waiting', exchange: 'waybell.waiting' },
      'delivery',
    ],
    ['a delivery that waited', { ...DELIVERY, exchange: 'waybell.deliveries', routingKey: EVENT_KEY }, 'delivery'],
    ['a delivery that was taken and given back too often', { ...DELIVERY, exchange: 'waybell.strays' }, 'delivery'],
    [
      'an event that was taken and given back too often',
      { queue: 'waybell.strays', exchange: 'waybell.strays' },
      { exchange: 'waybell.events', routingKey: EVENT_KEY },
    ],
  ])('leads %s back', (_what, rejected, route) => {
    const delivery = { exchange: 'waybell.deliveries', routingKey: EVENT_KEY };
    expect(returnRouteOf(aRejected(rejected))).toEqual(route === 'delivery' ? delivery : route);
  });

  test.each([
    ['waybell.outcomes', 'waybell.outcomes.log'],
    ['waybell.ends', 'waybell.ends.deactivator'],
  ])('leads what came by %s to the queue of its consumer', (exchange, routingKey) => {
    const route = { exchange: '', routingKey };
    expect(returnRouteOf(aRejected({ exchange, routingKey: '' }))).toEqual(route);
    // Sent back too early, it is rejected again.
    expect(returnRouteOf(aRejected(route))).toEqual(route);
  });

  test.each([
    ['what somebody put into the rejected queue', { exchange: 'waybell.rejected', routingKey: '' }],
    ['what came straight to some other queue', { exchange: '', routingKey: 'orders' }],
    ['a stray without a known key', { exchange: 'waybell.strays', routingKey: 'x' }],
    ['a delivery whose action is not known', { exchange: 'waybell.returns', routingKey: 'carrier.order.createt' }],
  ])('leads %s nowhere', (_what, rejected) => {
    expect(returnRouteOf(aRejected(rejected))).toBeUndefined();
  });
});

describe('isEvent', () => {
  test.each([
    ['an event', {}, true],
    ['one that no queue took, whatever its key', { exchange: 'waybell.strays', routingKey: 'x' }, true],
    ['a delivery', { ...DELIVERY, exchange: 'waybell.deliveries' }, false],
    ['one that no queue took', { exchange: 'waybell.strays', routingKey: 'x', type: 'carrier.order.createt' }, false],
    ['a batch of records', { exchange: 'waybell.outcomes', routingKey: '' }, false],
  ])('tells of %s, %j, that it is one: %s', (_what, rejected, is) => {
    expect(isEvent(aRejected(rejected))).toBe(is);
  });
});
