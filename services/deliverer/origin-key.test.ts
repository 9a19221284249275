import { describe, expect, test } from '@jest/globals';
import { originKey } from './origin-key.ts';

describe('originKey', () => {
  test.each([
    ['https://a.example/hooks/1', 'https://a.example'],
    ['https://a.example:8443?key=1', 'https://a.example:8443'],
    ['https://a.example', 'https://a.example'],
  ])('of %s is its account and %s', (callbackUrl, origin) => {
    expect(originKey({ account: 'one', callbackUrl })).toEqual({ account: 'one', origin });
  });

  test('tells the accounts at one host apart', () => {
    const callbackUrl = 'https://shared.example/hooks';
    expect(originKey({ account: 'one', callbackUrl })).not.toEqual(originKey({ account: 'two', callbackUrl }));
  });
});
