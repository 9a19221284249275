import type { Action } from '@waybell/catalog/action';
import { actionKey, actions } from '@waybell/catalog/actions';
import { notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { Event } from '@waybell/events/event';
import { type Notification, notify, largestNotification, changesAmong } from './notification.ts';
import { readEvent, type EventReading } from '@waybell/events/read-event';
import { auditTree } from '@waybell/catalog/audit-fields';
import { isObject, type JsonObject, type JsonValue, numberOf, objectOf, writeJson } from '@waybell/events/json';
import { readJson } from '@waybell/events/read-json';

const ACCOUNT = 'e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1';
const target = { auditFieldSet: null, messageGuid: 'd0d0d0d0-d0d0-5d0d-8d0d-d0d0d0d0d0d0' };
const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true, strictNumbers: false });
ajv.addFormat('uuid', /^[0-9a-f-]{36}$/i);
ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
ajv.addFormat('date-time', true);

const envelopeOf = (action: Action, payload: unknown = action.example) => ({
  guid: 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0',
  interface: action.interface,
  action: action.name,
  occurred_at: '2026-11-20T09:30:00.123456Z',
  parties: Object.fromEntries(action.receivers.map((party) => [party, ACCOUNT])),
  payload,
});

function read(action: Action, envelope: unknown): EventReading {
  const body = Buffer.from(JSON.stringify(envelope));
  return readEvent({ body, routingKey: actionKey(action) }, { maxBytes: 1_048_576, maxDepth: 32 });
}

function eventOf(action: Action): Event {
  const reading = read(action, envelopeOf(action));
  if (reading.kind === 'invalid') throw new Error(reading.detail);
  return reading.event;
}

function parsed(notification: Notification): unknown {
  return notification.kind === 'notification' ? JSON.parse(notification.body.toString()) : notification.reason;
}

describe.each(actions.map((action) => [actionKey(action), action] as const))('notify of %s', (_key, action) => {
  const accepts = ajv.compile(notificationSchema(action));

  test('sends what the schema of its notification says', () => {
    const sent = parsed(notify(eventOf(action))(target));
    expect([accepts(sent), accepts.errors]).toEqual([true, null]);
  });

  test('either refuses a payload, naming a place in it, or sends what the schema says', () => {
    fc.assert(
      fc.property(spoiled(action.example), (payload) => {
        const reading = read(action, envelopeOf(action, payload));
        const said =
          reading.kind === 'invalid' ? `${reading.reason} ${reading.detail}` : parsed(notify(reading.event)(target));
        const isRight =
          typeof said === 'string' ? /^(payload_invalid \/payload.*: .|links_missing$)/.test(said) : accepts(said);
        expect({ said, isRight }).toEqual({ said, isRight: true });
      }),
      { numRuns: 50 },
    );
  });
});

describe('notify in the revision form', () => {
  test.each(actions.flatMap((action) => (action.auditFields ? [[action.name, action] as const] : [])))(
    'sends what the schema of %s says',
    (_name, action) => {
      const accepts = ajv.compile(revisionNotificationSchema(action) ?? {});
      const sent = parsed(notify(eventOf(action))({ ...target, auditFieldSet: action.auditFields ?? [] }));
      expect([accepts(sent), accepts.errors]).toEqual([true, null]);
    },
  );
});

describe('notify', () => {
  test('writes once what plain subscriptions of an event have in common', () => {
    const action = actions.find(({ name }) => name === 'order.paid');
    const announce = action && notify(eventOf(action));
    const bodies = [1, 2].map(() => announce?.(target));
    expect(bodies[0]).toHaveProperty('body');
    expect(bodies[0]).toBe(bodies[1]);
  });

  test('gives every carrier subscription the guid of its own message', () => {
    const action = actions.find((each) => each.interface === 'carrier');
    const announce = action && notify(eventOf(action));
    const guids = ['1', '2'].map((messageGuid) => announce && parsed(announce({ ...target, messageGuid })));
    expect(guids).toMatchObject([{ guid: '1' }, { guid: '2' }]);
  });
});

/** The example with one member, at any depth, replaced, added or taken away. */
function spoiled(example: unknown): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(undefined, null, '', 0, -1.5, true, [], {}, ACCOUNT),
  );
  return fc.tuple(fc.infiniteStream(fc.nat()), value).map(([choices, replacement]) => {
    const copy: unknown = structuredClone(example);
    spoil(copy, choices, replacement);
    return copy;
  });
}

function spoil(node: unknown, choices: Iterator<number>, replacement: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const members = node as Record<string, unknown>; // An array, too, is spoiled by its keys.
  const keys = [...Object.keys(members), ...(Array.isArray(node) ? [] : ['added'])];
  const key = keys[Number(choices.next().value) % Math.max(keys.length, 1)] ?? '0';
  const inner = members[key];
  const goesDeeper = typeof inner === 'object' && inner !== null && Number(choices.next().value) % 3 > 0;
  if (goesDeeper) spoil(inner, choices, replacement);
  else members[key] = replacement;
}

const GUID = 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0';
const EVENT_BYTES = 2 ** 20;
const SHORT_NAMES = Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at)).filter(
  (name) => name !== '"' && name !== '\\',
);

type Side = { interface: 'shipper' | 'carrier'; action: string; payload: object };

/** The notification of an event that is filled up to exactly the limit. */
function notificationOf({ interface: side, action, payload }: Side): Buffer {
  const written = JSON.stringify({
    guid: GUID,
    interface: side,
    action,
    occurred_at: '2026-11-20T09:30:00Z',
    parties: { [side]: GUID },
    payload,
  });
  const room = EVENT_BYTES - written.length + '"FILL"'.length;
  const body = Buffer.from(written.replace('"FILL"', JSON.stringify('x'.repeat(room - 2))));
  expect(body).toHaveLength(EVENT_BYTES);
  const reading = readEvent({ body }, { maxBytes: EVENT_BYTES, maxDepth: 32 });
  if (reading.kind === 'invalid') throw new Error(reading.detail);
  const auditFieldSet = action === 'order.created' && side === 'shipper' ? ['number', 'price'] : null;
  const notification = notify(reading.event)({ auditFieldSet, messageGuid: GUID });
  if (notification.kind === 'suppressed') throw new Error(notification.reason);
  return notification.body;
}

/** Returns the most members that fit into few bytes. */
function manyMembers(): object {
  const few = Object.fromEntries(SHORT_NAMES.map((name) => [name, 1]));
  const more = Object.fromEntries(SHORT_NAMES.map((name) => [name, few]));
  return Object.fromEntries(SHORT_NAMES.slice(0, 19).map((name) => [name, more]));
}

describe('the largest notification', () => {
  test('is hardly larger than its event', () => {
    const payload = { id: 1, status: 'FILL' };
    const { length } = notificationOf({ interface: 'carrier', action: 'order.created', payload });
    expect(length).toBeGreaterThan(EVENT_BYTES - 1_024);
    expect(length).toBeLessThan(EVENT_BYTES + 1_024);
  });

  test('of an object of which every member is new is many times as large, and within the bound', () => {
    const revision = { guid: GUID, after: { number: manyMembers(), price: 'FILL' } };
    const payload = { order_guid: GUID, revision };
    const { length } = notificationOf({ interface: 'shipper', action: 'order.created', payload });
    expect(length).toBeGreaterThan(5.8 * EVENT_BYTES);
    expect(length).toBeLessThan(largestNotification(EVENT_BYTES));
  });
});

const fields = actions.find(({ name }) => name === 'order.modified')?.auditFields ?? [];
const tree = auditTree(fields);
/** The law is tried on few fields, so that sets and sides meet often. */
const someFields = fields.filter((field) => /^(number|price)$|notes|city|schedule_at_by_carrier/.test(field));

const number = fc.constantFrom('1', '1.0', '10e-1', '2', '1e400', '0.10', '0.1').map(numberOf);
const scalar = fc.oneof(fc.constantFrom<JsonValue>(null, 'a', 'b', true, ''), number);
const list: fc.Arbitrary<JsonValue> = fc.array(scalar, { maxLength: 2 });
const leaf = fc.oneof(scalar, scalar, list);
const side = fc
  .dictionary(fc.constantFrom(...someFields), leaf, { maxKeys: 12 })
  .map((values) => nested(Object.entries(values)));
const wanted = fc.uniqueArray(fc.constantFrom(...someFields)).map((names) => new Set(names));

/** The order that has these values at these dotted paths. */
function nested(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const byHead = Map.groupBy(entries, ([field]) => field.split('.', 1)[0] ?? '');
  return objectOf(
    new Map(
      [...byHead].map(([head, group]) => {
        const inner = group.flatMap(([field, value]) =>
          field === head ? [] : [[field.slice(head.length + 1), value] as const],
        );
        return [head, inner.length > 0 ? nested(inner) : (group[0]?.[1] ?? null)];
      }),
    ),
  );
}

function valueAt(object: JsonObject, field: string): JsonValue {
  const value = field.split('.').reduce<JsonValue>((at, name) => (isObject(at) ? (at[name] ?? null) : null), object);
  return value;
}

const announcedAs = (field: string) => field.replace('schedule_at_by_carrier', 'scheduled_at_by_carrier');

/** A number in a spelling that all its spellings share, so that text comparison is comparison by value. */
function canonical(value: JsonValue): string {
  return writeJson(value)
    .replaceAll(/1\.0|10e-1/g, '1')
    .replaceAll('0.10', '0.1');
}

/** Dotted paths of everything in `data` that has an old and a new value. */
function pathsIn(data: JsonObject, path = ''): string[] {
  return Object.entries(data).flatMap(([name, value]) => {
    if (!isObject(value)) throw new Error(`${path}${name} is neither a change nor an object of changes`);
    return 'old_value' in value ? [`${path}${name}`] : pathsIn(value, `${path}${name}.`);
  });
}

function mapped(object: JsonObject, to: (value: JsonValue) => JsonValue): JsonObject {
  return objectOf(new Map(Object.entries(object).map(([name, member]) => [name, to(member)])));
}

type Sides = Parameters<typeof changesAmong>[1];
const changes = (sides: Sides, set: ReadonlySet<string>): JsonObject => changesAmong(tree, sides, set) ?? {};

describe('changesAmong', () => {
  test('tells how to get from before to after, within the set', () => {
    fc.assert(
      fc.property(side, side, wanted, (before, after, set) => {
        const data = changes({ before, after }, set);
        for (const field of set) {
          const change = valueAt(data, announcedAs(field));
          const then = isObject(change) ? (change['new_value'] ?? null) : valueAt(before, field);
          expect(canonical(then)).toBe(canonical(valueAt(after, field)));
          const earlier = isObject(change) ? (change['old_value'] ?? null) : valueAt(before, field);
          expect(writeJson(earlier)).toBe(writeJson(valueAt(before, field)));
        }
      }),
    );
  });

  test('tells nothing of fields outside the set, and only of fields that differ', () => {
    fc.assert(
      fc.property(side, side, wanted, (before, after, set) => {
        const expected = fields.filter(
          (field) => set.has(field) && canonical(valueAt(before, field)) !== canonical(valueAt(after, field)),
        );
        const data = changes({ before, after }, set);
        expect(pathsIn(data)).toEqual(expected.map(announcedAs));
      }),
    );
  });

  test('tells nothing where a side only spells its numbers otherwise', () => {
    const respelled = (value: JsonValue): JsonValue => {
      if (value === 1) return numberOf('1.0');
      return isObject(value) ? mapped(value, respelled) : value;
    };
    fc.assert(
      fc.property(side, (before) => {
        const after = respelled(before);
        expect(changes({ before, after: isObject(after) ? after : null }, new Set(fields))).toEqual({});
      }),
    );
  });

  test('mirrors: what is new one way is old the other way', () => {
    const swapped = (value: JsonValue): JsonValue => {
      if (!isObject(value)) return value;
      const [oldValue, newValue] = [value['old_value'], value['new_value']];
      if (oldValue !== undefined && newValue !== undefined) return { old_value: newValue, new_value: oldValue };
      return mapped(value, swapped);
    };
    fc.assert(
      fc.property(side, side, wanted, (before, after, set) => {
        const forth = changes({ before, after }, set);
        const back = changes({ before: after, after: before }, set);
        expect(writeJson(back)).toBe(writeJson(swapped(forth)));
      }),
    );
  });

  test.each([
    [
      '{"price":{"a":{"b":1}}}',
      '{"price":{"a":{"b":2,"c":null}}}',
      '{"price":{"a":{"b":{"old_value":1,"new_value":2}}}}',
    ],
    ['{"price":5}', '{"price":{"a":1}}', '{"price":{"old_value":5,"new_value":{"a":1}}}'],
    ['{"price":null}', '{"price":{"a":1}}', '{"price":{"a":{"old_value":null,"new_value":1}}}'],
    ['{"price":{}}', '{"price":null}', '{}'],
    ['{"price":[{"a":null}]}', '{"price":[{}]}', '{}'],
    ['{"price":[1]}', '{"price":[1,null]}', '{"price":{"old_value":[1],"new_value":[1,null]}}'],
    ['{"price":[]}', '{"price":null}', '{"price":{"old_value":[],"new_value":null}}'],
    ['{"price":""}', '{"price":null}', '{"price":{"old_value":"","new_value":null}}'],
    ['{"price":0}', '{"price":false}', '{"price":{"old_value":0,"new_value":false}}'],
    ['{"price":0}', '{"price":-0.0e9}', '{}'],
    ['{"price":1e2}', '{"price":100}', '{}'],
    ['{"price":100}', '{"price":100.10}', '{"price":{"old_value":100,"new_value":100.10}}'],
    ['{"price":{}}', '{"price":{"toString":1}}', '{"price":{"toString":{"old_value":null,"new_value":1}}}'],
    ['{"price":[{}]}', '{"price":[{"valueOf":null}]}', '{}'],
    [
      '{"price":{"b":1,"2":1}}',
      '{"price":{"b":2,"2":2}}',
      '{"price":{"b":{"old_value":1,"new_value":2},"2":{"old_value":1,"new_value":2}}}',
    ],
    ['{"price":{"__proto__":1}}', '{"price":{"__proto__":2}}', '{"price":{"__proto__":{"old_value":1,"new_value":2}}}'],
  ])('%s then %s is %s', (before, after, data) => {
    const object = (text: string) => {
      const reading = readJson(Buffer.from(text), 32);
      return reading.kind === 'value' && isObject(reading.value) ? reading.value : null;
    };
    const sides = { before: object(before), after: object(after) };
    expect(writeJson(changes(sides, new Set(['price'])))).toBe(data);
  });
});
