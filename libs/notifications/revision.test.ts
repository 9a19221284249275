import { actions } from '@waybell/catalog/actions';
import { auditTree } from '@waybell/catalog/audit-fields';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isObject, type JsonObject, type JsonValue, numberOf, objectOf, writeJson } from '@waybell/events/json';
import { readJson } from '@waybell/events/read-json';
import { changesAmong } from './notification.ts';

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
