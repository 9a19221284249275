import { describe, expect, test } from '@jest/globals';
import { messageGuid } from './notification.ts';

const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

describe('messageGuid', () => {
  test('agrees with the example of RFC 9562, appendix A.4', () => {
    expect(messageGuid(DNS, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  });

  test('takes guids in either case for the same', () => {
    expect(messageGuid(DNS.toUpperCase(), 'WWW.EXAMPLE.COM')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  });

  test('takes an event guid of any version, also one of no known variant', () => {
    const guids = [
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '12345678-1234-f234-0234-123456789abc',
    ];
    expect(new Set(guids.map((guid) => messageGuid(guid, DNS))).size).toBe(3);
  });
});
