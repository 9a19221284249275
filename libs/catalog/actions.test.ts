import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { actionKey, actions, actionsOf, findAction } from './actions.ts';
import { eventSchema, payloadSchema, notificationSchema, revisionNotificationSchema } from './schemas.ts';

const ajv = addFormatsModule.default(new Ajv2020({ allowUnionTypes: true, strictTypes: false }));
// The moment of the examples is written with an offset without colon, as notifications are.
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/);

describe('actions', () => {
  test('are 64 of the shipper interface and 8 of the carrier interface, each named once', () => {
    expect(actionsOf('shipper')).toHaveLength(64);
    expect(actionsOf('carrier')).toHaveLength(8);
    expect(new Set(actions.map(actionKey)).size).toBe(72);
  });

  test('leave out the position reports, which no client can subscribe to', () => {
    expect(findAction('shipper', 'vehicle.location_reported')).toBeUndefined();
  });

  test('have an .ignored variant exactly where they say so', () => {
    const variants = actions.filter(({ name }) => name.endsWith('.ignored')).map(actionKey);
    const expected = actions.filter(({ ignorable }) => ignorable).map((action) => `${actionKey(action)}.ignored`);
    expect(variants).toEqual(expected);
    expect(variants).toHaveLength(6);
  });
});

describe.each(actions.map((action) => [actionKey(action), action] as const))('%s', (_key, action) => {
  test('says when it is sent and who receives it', () => {
    expect(action.description).toMatch(/\S/);
    expect(action.receivers).not.toHaveLength(0);
  });

  test('has an example that its schema of the payload accepts', () => {
    const accepts = ajv.compile(payloadSchema(action));
    expect({ valid: accepts(action.example), errors: accepts.errors }).toEqual({ valid: true, errors: null });
    expect(Object.keys(action.example)).not.toHaveLength(0);
  });

  test('announces every listed member in its example', () => {
    expect(Object.keys(action.example)).toEqual(
      expect.arrayContaining((action.payload.members ?? []).map(({ name }) => name)),
    );
  });

  test('has schemas of its event and of its notification', () => {
    expect(ajv.validateSchema(eventSchema(action))).toBe(true);
    expect(ajv.validateSchema(notificationSchema(action))).toBe(true);
    expect(revisionNotificationSchema(action) === null).toBe(action.auditFields === undefined);
  });
});

const auditFieldsOf = (name: string) => findAction('shipper', name)?.auditFields ?? [];

describe('the audit fields', () => {
  test('belong to the five revision actions and to no others', () => {
    const revised = actions.filter(({ auditFields }) => auditFields !== undefined).map(({ name }) => name);
    expect(revised.toSorted()).toEqual([
      'order.created',
      'order.modified',
      'vehicle.created',
      'vehicle.deleted',
      'vehicle.modified',
    ]);
  });

  test('are 74 of an order and 9 of a vehicle, each named once', () => {
    expect(new Set(auditFieldsOf('order.modified')).size).toBe(74);
    expect(auditFieldsOf('vehicle.deleted')).toContain('vehicles.lot_number');
    expect(new Set(auditFieldsOf('vehicle.deleted')).size).toBe(9);
  });
});
