import { describe, expect, test } from '@jest/globals';
import { httpServer } from '@waybell/runtime/testing/server';
import { readTooMuch, restHeaders } from './trace.ts';
import { openCaller } from '../testing/caller.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const dateIn = (seconds: number) => new Date(NOW + seconds * 1_000).toUTCString();

describe('Retry-After', () => {
  test.each<[string, string, number | undefined]>([
    ['30', '', 30_000],
    [' 1.5 ', '', 1_500],
    [dateIn(90), '', 90_000],
    ['Thursday, 01-Jan-26 12:01:30 GMT', '', 90_000],
    // The receiver's clock counts, not ours.
    [dateIn(690), dateIn(600), 90_000],
    [dateIn(90), 'today', 90_000],
    ['301', '', 300_000],
    [dateIn(86_400), '', 300_000],
    ['9'.repeat(400), '', 300_000],
    ['0', '', undefined],
    ['-5', '', undefined],
    [dateIn(-5), '', undefined],
    ['soon', '', undefined],
    ['in 45', '', undefined],
    [dateIn(90), '0', 90_000],
    [new Date(NOW + 90_000).toISOString(), '', 90_000],
    ['', '', undefined],
  ])('"%s", where Date is "%s", asks for %p ms', (retryAfter, date, askedMs) => {
    const headers = { 'retry-after': retryAfter, date };
    const read = readTooMuch(restHeaders(429, headers) ?? { retryAfter: '', date: '' }, NOW);
    expect(read).toEqual(askedMs === undefined ? {} : { askedMs });
  });

  test('that comes several times is the last', () => {
    expect(restHeaders(503, { 'retry-after': ['1', '2'] })).toEqual({ retryAfter: '2', date: '' });
  });
});

const inAMinute = 'Thu, 01 Jan 2015 00:01:00 GMT';

test.each([
  [429, { 'retry-after': '7' }, { askedMs: 7_000 }],
  [503, { 'retry-after': inAMinute, date: 'Thu, 01 Jan 2015 00:00:00 GMT' }, { askedMs: 60_000 }],
  [503, { 'retry-after': inAMinute }, {}],
  [429, {}, {}],
  [500, { 'retry-after': '7' }, undefined],
  [202, { 'retry-after': '7' }, undefined],
])('a receiver that answers %i with %j says of too much: %j', async (status, headers, tooMuch) => {
  await using server = await httpServer((_, response) => {
    // Node would send the time of its own clock.
    response.sendDate = false;
    response.writeHead(status, headers).end();
  });
  await using caller = openCaller({ keepAliveMs: 1_000 });
  const called = await caller.call(server.url);
  expect([called.status, called.tooMuch]).toEqual([status, tooMuch]);
});
