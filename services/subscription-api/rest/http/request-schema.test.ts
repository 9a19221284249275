import { describe, expect, test } from '@jest/globals';
import { component, componentsIn, text as textSchema, type JsonNode } from '../../operations/schema.ts';
import { judging } from '../../operations/serve-operations.ts';
import { bodyFaults } from './body.ts';
import { queryReader } from './read-query.ts';
import { schemaFaults } from './request-schema.ts';

const Color = component('Color', textSchema({ enum: ['red', 'blue'] }));
const schema: JsonNode = {
  type: 'object',
  required: ['guid'],
  additionalProperties: false,
  properties: {
    guid: { type: 'string', format: 'uuid' },
    at: { type: 'string', format: 'date-time' },
    name: { type: 'string', maxLength: 3 },
    code: { type: 'string', pattern: '^[a-z]$', description: 'a small letter' },
    color: Color,
    colors: { type: 'array', minItems: 1, items: Color },
    list: { type: ['array', 'null'] },
    count: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    is_so: { type: 'boolean' },
  },
};
const guid = 'a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11';
const components = componentsIn([schema], []);
const faultsOf = schemaFaults(schema, components);
const judge = judging(schema);

describe('schemaFaults', () => {
  test.each<[member: string, value: unknown, detail: string]>([
    ['guid', undefined, 'is required'],
    ['guid', '17', 'must be a guid'],
    ['guid', 17, 'must be a guid'],
    ['at', '2026-02-30T00:00:00Z', 'must be an RFC 3339 timestamp such as 2026-11-20T09:30:00Z'],
    ['name', null, 'must be a string of at most 3 characters'],
    ['name', 'long', 'must be a string of at most 3 characters'],
    ['code', 'A', 'must be a small letter'],
    ['color', 'green', 'must be one of: red, blue'],
    ['colors', 'red', 'must be an array with at least one item; each must be one of: red, blue'],
    ['colors', [], 'must be an array with at least one item; each must be one of: red, blue'],
    ['list', {}, 'must be an array'],
    ['count', 10, 'must be a whole number from 1 to 9'],
    ['count', 1.5, 'must be a whole number from 1 to 9'],
    ['count', Infinity, 'must be a whole number from 1 to 9'],
    ['is_so', 'true', 'must be true or false'],
    ['x/y~', 1, 'is not known here; known are: guid, at, name, code, color, colors, list, count, is_so'],
    ['toString', 1, 'is not known here; known are: guid, at, name, code, color, colors, list, count, is_so'],
  ])('says of "%s": %j that it %s', (member, value, detail) => {
    expect(faultsOf({ guid, [member]: value })).toEqual([{ path: [member], detail }]);
  });

  test('says of each item that is wrong where it is', () => {
    const fault = (index: string) => ({ path: ['colors', index], detail: 'must be one of: red, blue' });
    expect(faultsOf({ guid, colors: ['red', 'x', 'blue', 1] })).toEqual([fault('1'), fault('3')]);
  });

  test.each([null, [], 'x', 1])('says of %j that it is no object', (value) => {
    expect(faultsOf(value)).toEqual([{ path: [], detail: 'must be a JSON object' }]);
  });
});

describe('judging', () => {
  test('fills in what is left out', () => {
    expect(judge({ guid }).fitting()).toEqual({ guid, count: 2 });
  });

  test('names everything that is wrong, a hundred places at most, and counts the others', () => {
    const unknown = Object.fromEntries(Array.from({ length: 150 }, (_each, index) => [`m${index}`, 1]));
    const read = () => judge({ at: 1, ...unknown }).fitting();
    expect(read).toThrow(/^#\/guid is required; #\/m0 is not known here; .* and 52 more$/);
    expect(bodyFaults(schema, components)({ at: 1, ...unknown })).toHaveLength(152);
  });
});

describe('queryReader', () => {
  const read = queryReader([
    { name: 'count', schema: (schema['properties'] as JsonNode)['count'] },
    { name: 'at', schema: (schema['properties'] as JsonNode)['at'] },
    { name: 'colors', schema: { type: 'array', items: { enum: ['red', 'blue'] } } },
  ]);

  test.each(['colors=red,blue', 'colors=red&colors=blue', 'colors=red%2Cblue'])('reads items of %s', (query) => {
    expect(read({ url: `/x?${query}` })).toMatchObject({ colors: ['red', 'blue'] });
  });

  test('reads a number as one', () => {
    expect(read({ url: '/x?count=7' })).toEqual({ count: 7 });
    expect(read({ url: '/x' })).toEqual({ count: 2 });
  });

  test.each(['07', '+7', '7.0', '7e0', '0x7', '%207', ''])('takes no "%s" for a number', (text) => {
    expect(() => read({ url: `/x?count=${text}` })).toThrow('count must be a whole number from 1 to 9');
  });

  test('names everything that is wrong, and what is there twice', () => {
    expect(() => read({ url: '/x?count=0&at=2026-11-20T09:30:00+01:00&order=1&at=' })).toThrow(
      'order is not known here; known are: count, at, colors; ' +
        'count must be a whole number from 1 to 9; ' +
        'at must be an RFC 3339 timestamp such as 2026-11-20T09:30:00Z; the + of an offset is written %2B; at is there twice',
    );
  });
});
