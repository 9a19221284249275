import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';

/** Tests of which one fails or hangs, whichever FAULT names, and others after it: run-jest.test.ts counts those that pass. */
test('all is well', () => {
  process.stderr.write('the first was begun');
  expect(1).toBe(1);
});
test('this is as it should be', () => {
  expect(process.env['FAULT']).not.toBe('fails');
});
test('this comes to an end', async () => {
  await expect(until('it does not hang', () => process.env['FAULT'] !== 'hangs')).resolves.toBe(true);
});
describe('what comes after it', () => {
  beforeAll(() => void process.stderr.write('another was begun'));
  test('is not begun', () => {
    expect(1).toBe(1);
  });
});
