import { describe, expect, test } from '@jest/globals';
import type { DeliveryEnd } from '@waybell/line/delivery-ends';
import { deactivate } from './deactivate.ts';
import type { Deactivation } from './settle-deliveries.ts';

const delivered: DeliveryEnd = { subscription: 's', generation: 1, isDelivered: true, at: 1 };
const exhausted: DeliveryEnd = { ...delivered, isDelivered: false };
const off: Deactivation = {
  subscription_guid: 's',
  generation: 1,
  interface: 'carrier',
  action: 'order.created',
  rule: 'exhausted',
};

describe('deactivate', () => {
  test('notes all ends of a batch in one go, announces what was switched off by that, and causes nothing', async () => {
    const noted: (readonly DeliveryEnd[])[] = [];
    const announced: Deactivation[] = [];
    const settle = async (ends: readonly DeliveryEnd[]) => {
      noted.push(ends);
      return [off];
    };
    const handle = deactivate({ settle, onDeactivated: (each) => announced.push(each) });
    expect(await handle([delivered, exhausted])).toEqual([]);
    expect(noted).toEqual([[delivered, exhausted]]);
    expect(announced).toEqual([off]);
  });
});
