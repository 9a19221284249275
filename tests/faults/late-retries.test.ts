import { describe, expect, test } from '@jest/globals';
import { retriesAmong, unsettledMs } from './late-retries.ts';

const aRequest = (attempt: number, at: number, delivery = 'one') => ({
  path: '/shipper/1',
  headers: { 'webhook-id': delivery, 'x-webhook-attempt': String(attempt) },
  at,
});
const delays = () => [300, 500];

describe('retriesAmong', () => {
  test('a retry is due its delay after the attempt before it', () => {
    const requests = [aRequest(1, 1_000), aRequest(1, 1_100, 'other'), aRequest(2, 1_310), aRequest(3, 1_900)];
    expect(retriesAmong(requests, delays)).toEqual([
      { dueAt: 1_300, cameAt: 1_310 },
      { dueAt: 1_810, cameAt: 1_900 },
    ]);
  });

  test('counts from the last request where an attempt was made twice', () => {
    const requests = [aRequest(1, 1_000), aRequest(1, 2_000), aRequest(2, 2_300)];
    expect(retriesAmong(requests, delays)).toEqual([{ dueAt: 2_300, cameAt: 2_300 }]);
  });
});

describe('unsettledMs', () => {
  const retries = [
    { dueAt: 900, cameAt: 9_000 },
    { dueAt: 5_000, cameAt: 5_600 },
    { dueAt: 6_000, cameAt: 6_400 },
  ];

  test('is when the last retry was due that came too late, from the fault on', () => {
    expect(unsettledMs(retries, { since: 1_000, toleratedMs: 500 })).toBe(4_000);
  });

  test('knows nothing of what was due after its end', () => {
    expect(unsettledMs(retries, { since: 500, until: 2_000, toleratedMs: 500 })).toBe(400);
  });

  test('is 0 where all came in time', () => {
    expect(unsettledMs(retries, { since: 1_000, toleratedMs: 700 })).toBe(0);
  });
});
