import { describe, expect, test } from '@jest/globals';
import {
  choice,
  component,
  count,
  from,
  guid,
  list,
  moment,
  object,
  oneOf,
  only,
  optional,
  orNull,
  text,
} from './schema.ts';
import { wire } from './wire.ts';

const AT = '2026-11-20T09:30:00.123Z';

describe('wire', () => {
  test.each<[what: string, row: unknown, written: unknown]>([
    ['the name of the schema', { created_at: AT }, { created_at: AT }],
    ['the name in camel case', { createdAt: AT }, { created_at: AT }],
    ['a Date', { createdAt: new Date(AT) }, { created_at: AT }],
    ['milliseconds', { createdAt: Date.parse(AT) }, { created_at: AT }],
    ['what the schema does not name', { createdAt: AT, secret: 'x' }, { created_at: AT }],
  ])('reads %s', (_what, row, written) => {
    expect(wire(object({ created_at: moment() }), row)).toEqual(written);
  });

  test('reads a guid of something by its name, and other names by their source', () => {
    const schema = object({
      event_guid: guid(),
      guid: from('delivery', guid()),
      of: from((row: { n: number }) => row.n + 1, count()),
    });
    expect(wire(schema, { event: 'e', delivery: 'd', n: 1 })).toEqual({ event_guid: 'e', guid: 'd', of: 2 });
  });

  test('gives sources what the operation answers with beside the row', () => {
    const schema = list(object({ name: from((row: string, names: Map<string, string>) => names.get(row), text()) }));
    expect(wire(schema, ['a'], new Map([['a', 'Acme']]))).toEqual([{ name: 'Acme' }]);
  });

  test.each<[what: string, row: object, written: object]>([
    ['nothing', {}, { needed: null }],
    ['null', { needed: null, some: null, either: null }, { needed: null, either: null }],
    ['undefined', { needed: undefined, either: undefined }, { needed: null }],
    ['a value', { needed: 1, some: 2, either: 3 }, { needed: 1, some: 2, either: 3 }],
  ])('tells of %s as the schema takes it', (_what, row, written) => {
    const schema = object({ needed: orNull(count()), some: optional(count()), either: optional(orNull(count())) });
    expect(wire(schema, row)).toEqual(written);
  });

  test('takes an enum with null, and a component, for what may be null', () => {
    const Named = component('Named', object({ name: text() }));
    const schema = object({ which: choice(['a', null]), named: orNull(Named) });
    expect(wire(schema, {})).toEqual({ which: null, named: null });
    expect(wire(schema, { which: 'a', named: { name: 'b', more: 1 } })).toEqual({ which: 'a', named: { name: 'b' } });
  });

  test('refuses to answer without a member that has to be there', () => {
    expect(() => wire(object({ name: text() }), {})).toThrow('an answer lacks "name"');
  });

  test('tells forms apart by their kind, and says a constant by itself', () => {
    const forms = oneOf([object({ kind: only('a'), name: text() }), object({ kind: only('b'), is: only(true) })]);
    const schema = object({ objects: list(forms) });
    const rows = { objects: [{ kind: 'b' }, { kind: 'a', name: 'x', is: false }] };
    expect(wire(schema, rows)).toEqual({
      objects: [
        { kind: 'b', is: true },
        { kind: 'a', name: 'x' },
      ],
    });
    expect(() => wire(forms, { kind: 'c' })).toThrow('an answer of the kind c');
  });

  test('passes on an object whose members the schema does not name', () => {
    expect(wire(object({ details: {} }), { details: { anything: [1] } })).toEqual({ details: { anything: [1] } });
  });
});
