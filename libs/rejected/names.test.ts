import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { isOf, names } from './selection.ts';
import { aRejected } from './testing/a-rejected.ts';

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
