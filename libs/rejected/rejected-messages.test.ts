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
