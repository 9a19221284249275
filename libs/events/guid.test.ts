import { describe, expect, test } from '@jest/globals';
import { guidsOf, isGuid, readGuid } from './timestamp.ts';

const guid = '0d3f9c2e-1b7a-4c55-9a01-5e6f7a8b9c0d';

describe('isGuid', () => {
  test.each([guid, guid.toUpperCase(), '11111111-2222-0333-4444-555555555555', '00000000-0000-0000-0000-000000000000'])(
    'takes %s, of whatever version',
    (text) => {
      expect(isGuid(text)).toBe(true);
    },
  );

  test.each([
    '',
    '17',
    `${guid}0`,
    ` ${guid}`,
    `${guid}\n`,
    guid.replaceAll('-', ''),
    `{${guid}}`,
    17,
    null,
    undefined,
  ])('refuses %j', (value) => {
    expect(isGuid(value)).toBe(false);
  });
});

describe('readGuid', () => {
  test.each([guid, guid.toUpperCase(), `{${guid}}`, `urn:uuid:${guid}`, ` ${guid}\n`, `URN:UUID:{ ${guid} }`])(
    'reads %j',
    (text) => {
      expect(readGuid(text)).toBe(guid);
    },
  );

  test.each([`${guid}0`, `x${guid}`, guid.replaceAll('-', ''), 17, undefined])('refuses %j', (value) => {
    expect(readGuid(value)).toBeUndefined();
  });
});

describe('guidsOf', () => {
  test('finds each in a text, however often it is asked', () => {
    const text = `{"order_guid":"${guid}","note":"see ${guid.toUpperCase()}, not 0d3f9c2e-1b7a"}`;
    expect(guidsOf(text)).toEqual([guid, guid.toUpperCase()]);
    expect(guidsOf(text)).toHaveLength(2);
  });
});
