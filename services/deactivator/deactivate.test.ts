import { describe, expect, test } from '@jest/globals';
import type { DeliveryEnd } from '@waybell/line/outcomes';
import { fatesOf } from '@waybell/line/testing/handled';
import { deactivate } from './deactivate.ts';

const NOTHING = { kind: 'done', caused: [] };
const delivered: DeliveryEnd = { delivery: 'd', subscription: 's', generation: 1, isDelivered: true, at: 1 };
const exhausted: DeliveryEnd = { ...delivered, isDelivered: false };

describe('deactivate', () => {
  test('notes all ends of its messages in one go, and causes nothing by itself', async () => {
    const noted: (readonly DeliveryEnd[])[] = [];
    const handle = deactivate({
      noteEnds: async (ends) => void noted.push(ends),
      endGone: () => Promise.reject(exhausted),
    });
    expect(await fatesOf(handle, [[delivered], [exhausted, delivered]])).toEqual([NOTHING, NOTHING]);
    expect(noted).toEqual([[delivered, exhausted, delivered]]);
  });

  test('ends what is gone, and notes nothing of that', async () => {
    const [noted, ended]: (readonly DeliveryEnd[])[][] = [[], []];
    const gone: DeliveryEnd = { ...exhausted, isGone: true };
    const handle = deactivate({
      noteEnds: async (ends) => void noted?.push(ends),
      endGone: async (ends) => void ended?.push(ends),
    });
    await fatesOf(handle, [[exhausted, gone], [delivered]]);
    expect([noted, ended]).toEqual([[[exhausted, delivered]], [[gone]]]);
  });
});
