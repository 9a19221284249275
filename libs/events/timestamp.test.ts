import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { momentOf, readTimestamp, writeTimestamp } from './timestamp.ts';

function shown(text: string, precision: 'milliseconds' | 'microseconds' = 'microseconds'): string | null {
  const timestamp = readTimestamp(text);
  return timestamp === null ? null : writeTimestamp(timestamp, precision);
}

describe('readTimestamp', () => {
  test.each([
    ['2026-11-20T09:30:00.123456Z', '2026-11-20T09:30:00.123456+0000'],
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000000+0000'],
    ['2026-11-20t09:30:00.5z', '2026-11-20T09:30:00.500000+0000'],
    ['2026-11-20T09:30:00.123456789+02:00', '2026-11-20T07:30:00.123456+0000'],
    ['2026-11-20T23:30:00.000001-0530', '2026-11-21T05:00:00.000001+0000'],
    ['2027-01-01T00:00:00+0100', '2026-12-31T23:00:00.000000+0000'],
    ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00.000000+0000'],
    ['2024-02-29T12:00:00-00:00', '2024-02-29T12:00:00.000000+0000'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000000+0000'],
    ['0099-12-31T23:59:00-00:01', '0100-01-01T00:00:00.000000+0000'],
    ['2016-12-31T23:59:60.5Z', '2016-12-31T23:59:60.500000+0000'],
    ['2017-01-01T01:59:60+02:00', '2016-12-31T23:59:60.000000+0000'],
  ])('takes %s for %s', (text, utc) => {
    expect(shown(text)).toBe(utc);
  });

  test.each([
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-00T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T09:60:00Z',
    '2026-11-20T09:30:61Z',
    '2026-11-20T09:30:60Z',
    '2026-12-30T23:59:60Z',
    '2026-11-20T09:30:00+24:00',
    '2026-11-20T09:30:00+01:60',
    '2026-11-20T09:30:00+01',
    '2026-11-20T09:30:00.Z',
    '2026-11-20T09:30:00.1234567890Z',
    '2026-11-20T09:30:00',
    '2026-11-20 09:30:00Z',
    '2026-11-20T09:30Z',
    '2026-11-20',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:00-00:01',
    ' 2026-11-20T09:30:00Z',
    '2026-11-20T09:30:00Z\n',
    '1763630000',
    '٢026-11-20T09:30:00Z',
    '',
  ])('refuses %j', (text) => {
    expect(readTimestamp(text)).toBeNull();
  });

  test('agrees with the calendar of JavaScript at every offset', () => {
    const min = new Date('0001-01-01T00:00:00Z');
    const max = new Date('9998-12-31T00:00:00Z');
    fc.assert(
      fc.property(fc.date({ min, max, noInvalidDate: true }), fc.integer({ min: -1439, max: 1439 }), (date, offset) => {
        const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const zone = `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
        expect(shown(local + zone, 'milliseconds')).toBe(date.toISOString().replace('Z', '+0000'));
      }),
    );
  });
});

describe('writeTimestamp', () => {
  test('cuts, and never rounds', () => {
    expect(shown('2026-11-20T23:59:59.999999999Z', 'milliseconds')).toBe('2026-11-20T23:59:59.999+0000');
    expect(shown('2026-11-20T23:59:59.999999999Z')).toBe('2026-11-20T23:59:59.999999+0000');
  });
});

describe('momentOf', () => {
  test('counts milliseconds, finer digits cut off, a leap second as the one after it', () => {
    expect(momentOf('2026-11-20T10:30:00.9999+01:00')).toBe(Date.parse('2026-11-20T09:30:00.999Z'));
    expect(momentOf('2016-12-31T23:59:60Z')).toBe(Date.parse('2017-01-01T00:00:00Z'));
    expect(() => momentOf('yesterday')).toThrow('not a timestamp');
  });
});
