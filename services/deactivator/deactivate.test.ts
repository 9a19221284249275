import { describe, expect, test } from '@jest/globals';
import type { DeliveryEnd } from '@waybell/line/outcomes';
import { deactivate } from './deactivate.ts';

const delivered: DeliveryEnd = { delivery: 'd', subscription: 's', generation: 1, isDelivered: true, at: 1 };
const exhausted: DeliveryEnd = { ...delivered, isDelivered: false };

describe('deactivate', () => {
  test('notes all ends of a batch in one go, and causes nothing by itself', async () => {
    const noted: (readonly DeliveryEnd[])[] = [];
    const handle = deactivate({ noteEnds: async (ends) => void noted.push(ends) });
    expect(await handle([delivered, exhausted])).toEqual([]);
    expect(noted).toEqual([[delivered, exhausted]]);
  });
});
