import { describe, expect, test } from '@jest/globals';
import { responseSpeed } from './endpoint.ts';

describe('endingOf', () => {
  test.each([
    ['a quick success', { durationMs: 20, status: 200 }, 'quick'],
    ['a slow success', { durationMs: 2_000, status: 200 }, 'slow'],
    ['a quick failure', { durationMs: 20, status: 500, reason: 'status' }, 'quick'],
    ['a slow failure', { durationMs: 20_000, status: 500, reason: 'status' }, 'slow'],
    ['a refused connection', { durationMs: 1, reason: 'connection_refused' }, 'quick'],
    ['a timeout', { durationMs: 3_000, reason: 'response_timeout' }, 'hung'],
  ] as const)('of %s', (_, answer, speed) => {
    expect(responseSpeed(answer as Parameters<typeof responseSpeed>[0], 1_000)).toBe(speed);
  });
});
