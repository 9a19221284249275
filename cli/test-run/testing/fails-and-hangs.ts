import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';

/** Tests of which one fails or hangs, whichever FAULT names, and others after it: run-jest.test.ts counts those that begin. */
test('all is well', () => {
  expect(1).toBe(1);
});
test('this is as it should be', () => {
  expect(process.env['FAULT']).not.toBe('fails');
});
test('this comes to an end', async () => {
  if (process.env['FAULT'] === 'hangs') await sleep(900_000, undefined, { ref: false });
});
describe('what comes after it', () => {
  beforeAll(() => {
    throw new Error('it was begun');
  });
  test('is not begun', () => undefined);
});
