import { describe, expect, test } from '@jest/globals';
import { park, type Delivery } from '@waybell/line/delivery';
import { fromParked } from './from-parked.ts';

const GUID = '0b9c2f6e-7d1f-4e57-8f5e-3f0c1d2e4a5b';
const delivery: Delivery = {
  guid: GUID,
  interface: 'shipper',
  action: 'order.created',
  subscription: GUID,
  generation: 1,
  event: GUID,
  attempt: 1,
  createdAt: 1,
  beganAt: 1,
  body: Buffer.from('{}'),
};
const { row } = park(delivery, { account: GUID, why: 'full' });
const later = { ...row, note: row.note.replace(/^\d+/, '9') };

describe('what leaves for a parked row of a later format', () => {
  test('is the delivery as it is, so that it holds up no other', () => {
    const { action, note, body } = later;
    expect(fromParked(later, 0)).toMatchObject({ exchange: 'waybell.deliveries', routingKey: action, note, body });
  });

  test('is nothing where its body was deleted', () => {
    expect(() => fromParked({ ...later, body: null }, 0)).toThrow('cannot be read');
  });
});
