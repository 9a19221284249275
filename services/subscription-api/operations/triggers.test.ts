import { describe, expect, test } from '@jest/globals';
import { writeJson, type JsonValue } from '@waybell/events/json';
import { readJson } from '@waybell/events/read-json';
import { setAt, stepsOf } from './triggers.ts';

function jsonOf(text: string): JsonValue {
  const reading = readJson(Buffer.from(text), 32);
  if (reading.kind === 'invalid') throw new Error(reading.detail);
  return reading.value;
}

function after(text: string, pointer: string, value: string): string {
  const setting = setAt(jsonOf(text), stepsOf(pointer) ?? [], jsonOf(value));
  return setting.kind === 'set' ? writeJson(setting.value) : setting.detail;
}

describe('setAt', () => {
  test.each([
    ['{"a":1,"b":2}', '/a', '3', '{"a":3,"b":2}'],
    ['{"a":1}', '/b', '12.50', '{"a":1,"b":12.50}'],
    ['{"price":0.10,"a":{}}', '/a/b/c', '"x"', '{"price":0.10,"a":{"b":{"c":"x"}}}'],
    ['{"stops":[{"x":1},{"x":2}]}', '/stops/1/x', '9007199254740993', '{"stops":[{"x":1},{"x":9007199254740993}]}'],
    ['{}', '/stops/0/x', '1', '{"stops":[{"x":1}]}'],
    ['{"stops":[]}', '/stops/0', '{"x":1}', '{"stops":[{"x":1}]}'],
    ['{"a/b":1,"c~d":2}', '/c~0d', 'null', '{"a/b":1,"c~d":null}'],
    ['{"a/b":1}', '/a~1b', '[]', '{"a/b":[]}'],
    ['{}', '/__proto__', '1', '{"__proto__":1}'],
    ['{"10":1,"9":2}', '/9', '3', '{"10":1,"9":3}'],
  ])('of %s at %s with %s is %s', (before, pointer, value, expected) => {
    expect(after(before, pointer, value)).toBe(expected);
  });

  test.each([
    ['{"stops":[1]}', '/stops/2', 'there is a list of 1: name an item by its number'],
    ['{"stops":[1]}', '/stops/x', 'there is a list of 1: name an item by its number'],
    ['{"stops":[1]}', '/stops/01', 'there is a list of 1: name an item by its number'],
    ['{"a":"text"}', '/a/b', 'there is no object or list that could have /b'],
    ['{"a":null}', '/a/b', 'there is no object or list that could have /b'],
    ['{"a":1.50}', '/a/b', 'there is no object or list that could have /b'],
  ])('of %s has no %s', (before, pointer, detail) => {
    expect(after(before, pointer, '1')).toBe(detail);
  });

  test.each(['', 'a', '/a~', '/a~2', '/a/b~', '/a'.repeat(33)])('takes no "%s" for a place', (pointer) => {
    expect(stepsOf(pointer)).toBeUndefined();
  });
});
