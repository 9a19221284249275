import { actions } from '@waybell/catalog/actions';
import { carrierOrderKeys, orderKeys } from '@waybell/catalog/action';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from './json.ts';
import { keysIn, keysOf, LONGEST_KEY, normalizedKey } from './event.ts';
import { readJson } from './read-json.ts';

const ORDER = '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11';
const VEHICLE = 'c2f1f1d4-2a0b-4d0e-8f0a-6b8e5f2f9c44';

const told = (...of: Parameters<typeof keysOf>) => keysOf(...of).map(({ kind, key }) => `${kind} ${key}`);

describe('keysOf', () => {
  test('finds every guid, in lower case, under the name that it has or by what it is in', () => {
    const payload = {
      order_guid: ORDER.toUpperCase(),
      vehicle_guids: [VEHICLE],
      vehicles: [{ guid: '00000000-0000-4000-8000-000000000001' }],
      revision: {
        guid: '00000000-0000-4000-8000-000000000002',
        carrier: { guid: '00000000-0000-4000-8000-000000000003' },
      },
    };
    expect(told(payload, {})).toEqual([
      `order_guid ${ORDER}`,
      `vehicle_guid ${VEHICLE}`,
      'vehicle_guid 00000000-0000-4000-8000-000000000001',
      'revision_guid 00000000-0000-4000-8000-000000000002',
      'carrier_guid 00000000-0000-4000-8000-000000000003',
    ]);
  });

  test('finds the members that the action names, before and after a change, and not what is called so elsewhere', () => {
    const payload = {
      revision: {
        before: { number: 'WB-1', vin: 'YV1DZ8256C2271234' },
        after: { number: 'WB-2', purchase_order_number: 77, pickup: { number: '12 Depot Road' } },
      },
    };
    expect(told(payload, orderKeys)).toEqual([
      'number WB-1',
      'vin YV1DZ8256C2271234',
      'number WB-2',
      'purchase_order_number 77',
    ]);
  });

  test("takes an id for that of the order at the top alone, and an order's wherever one is", () => {
    const payload = {
      id: 4711,
      driver: { id: 12 },
      order: { id: 4712, number: 'A-1' },
      vehicles: [{ id: 7, vin: 'V' }],
    };
    expect(told(payload, carrierOrderKeys)).toEqual(['order_id 4711', 'order_id 4712', 'number A-1', 'vin V']);
  });

  test('keeps every digit, and the subject of a CloudEvent', () => {
    const reading = readJson(Buffer.from('{"id":9007199254740993123}'), 8);
    if (reading.kind === 'invalid') throw new Error(reading.detail);
    // It was written as an object.
    const payload = reading.value as JsonObject;
    expect(told(payload, carrierOrderKeys, 'orders/4711')).toEqual([
      'order_id 9007199254740993123',
      'subject orders/4711',
    ]);
  });

  test('leaves out what nobody asks by: nothing, too much, and the same again', () => {
    const payload = { id: ' ', order_id: 'x'.repeat(LONGEST_KEY + 1), number: 'a', order_number: 'A ' };
    expect(told(payload, carrierOrderKeys)).toEqual(['number a']);
  });

  test('takes a guid between spaces for what it is', () => {
    expect(told({ number: ` ${ORDER.toUpperCase()} `, order_guid: ORDER }, orderKeys)).toEqual([`number ${ORDER}`]);
  });

  test('is bounded, whatever an open payload holds, and guids leave room for others', () => {
    const guids = Array.from({ length: 100 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
    const found = keysOf({ guids, id: 4711, vehicles: guids.map((vin) => ({ vin: `V${vin}` })) }, carrierOrderKeys);
    expect(found).toHaveLength(48);
    expect(found).toContainEqual({ kind: 'order_id', key: '4711' });
  });

  test('takes no name of every object for one of the catalog', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('constructor', 'toString', '__proto__', 'x'), fc.string()),
        (payload) => {
          expect(keysOf(payload, carrierOrderKeys)).toEqual([]);
        },
      ),
    );
  });

  test('finds in the example of each action what people ask by', () => {
    const kinds = actions.map((action) => keysOf(action.example as JsonObject, action.keys).map(({ kind }) => kind));
    const without = actions.filter((_, place) => kinds[place]?.length === 0).map(({ name }) => name);
    expect(without).toEqual(['servicepay_settings.updated']);
    expect(new Set(kinds.flat())).toEqual(
      new Set(
        [
          'order_guid',
          'vehicle_guid',
          'offer_guid',
          'carrier_guid',
          'load_request_guid',
          'escalation_guid',
          'resolver_guid',
        ]
          .concat(['revision_guid', 'user_guid', 'customer_counterparty_guid'])
          .concat(['number', 'vin', 'offer_id', 'order_id', 'damage_id']),
      ),
    );
  });
});

describe('keysIn', () => {
  test('finds the guids of a text that is no JSON, escaped or not, but for those that are known', () => {
    const text = `{"order_guid": "${ORDER.toUpperCase()}", "x": "\\u0063${VEHICLE.slice(1)}", broken`;
    expect(keysIn(text, new Set([ORDER]))).toEqual([{ kind: 'guid', key: VEHICLE }]);
  });
});

describe('normalizedKey', () => {
  test('is the same however a key is spelled', () => {
    expect(normalizedKey(' YV1dz8256C2271234\n')).toBe('yv1dz8256c2271234');
  });
});
