import { describe, expect, test } from '@jest/globals';
import { isSelected, readSelection, isOf, names } from './selection.ts';
import { aRejected } from './testing/a-rejected.ts';
import { gzipSync, zstdCompressSync } from 'node:zlib';

describe('readSelection', () => {
  test.each<[string, string[], { reason?: string; all?: true }]>([
    ['nothing', [], {}],
    ['ids and a reason', ['a'], { reason: 'x' }],
    ['a reason and all', [], { reason: 'x', all: true }],
  ])('refuses %s', (_what, ids, options) => {
    expect(readSelection({ ids, ...options })).toBeUndefined();
  });
});

describe('isSelected', () => {
  test('takes all, or those of the reason', () => {
    expect(isSelected({ kind: 'all' }, aRejected())).toBe(true);
    expect(isSelected({ kind: 'reason', reason: 'payload_invalid' }, aRejected())).toBe(true);
    expect(isSelected({ kind: 'reason', reason: 'payload' }, aRejected())).toBe(false);
  });

  test.each([
    ['0123456789', true],
    ['ABCDEF-1', true],
    ['012345678', false],
    ['1', false],
  ])('finds by the id or message id "%s": %s', (id, isFound) => {
    expect(isSelected({ kind: 'ids', ids: ['x', id] }, aRejected({ messageId: 'abcdef-1' }))).toBe(isFound);
  });

  test.each([
    ['in its body', { body: Buffer.from('{"number":"4711"}') }],
    ['in the note of a delivery', { note: '1 s 1 4711 1 0 0' }],
  ])('finds what it is about %s', (_where, what) => {
    const about = { kind: 'about', key: '4711' } as const;
    expect([isSelected(about, aRejected(what)), isSelected(about, aRejected())]).toEqual([true, false]);
  });
});

const GUID = '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11';
const body = Buffer.from(`{"payload":{"guid":"${GUID.toUpperCase()}"}}`);

function escaped(text: string): string {
  return text.replaceAll(/[0-9-]/g, (character) => `\\u00${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

test.each([
  ['as it is', { body }],
  ['compressed', { body: gzipSync(body), contentEncoding: 'GZIP' }],
  ['that spells it with escapes', { body: Buffer.from(`{"guid":"${escaped(GUID)}"}`) }],
  ['that is no JSON and spells it with escapes', { body: Buffer.from(`{"guid":"${escaped(GUID)}"`) }],
  ['of records, compressed', { body: zstdCompressSync(body), contentEncoding: 'zstd' }],
  ['in an encoding that is not known', { body, contentEncoding: 'br' }],
  ['that says it is compressed, and is not', { body, contentEncoding: 'gzip' }],
])('a guid is found in a body %s', (_, rejected) => {
  expect(names(rejected, GUID)).toBe(true);
});

test('any other key is found as one of its kind', () => {
  const event = aRejected({ body: Buffer.from('{"payload":{"id":4711,"number":"12"}}') });
  const asked = [{ key: '4711' }, { key: '4711', kind: 'order_id' }, { key: '4711', kind: 'number' }, { key: '471' }];
  expect(asked.map((each) => isOf(event, each))).toEqual([true, true, false, false]);
});

test('a guid that it does not name is not found', () => {
  expect(names({ body: gzipSync('{}'), contentEncoding: 'gzip' }, GUID)).toBe(false);
});
