import { beforeAll, expect, test } from '@jest/globals';
import type { BarCheck } from '../lib/report.ts';
import { COUNT_BUDGETS, counts } from './counts.ts';

/** The least of them counts: what disturbs one adds. */
const ROUNDS = 3;

let checks: readonly BarCheck[];

beforeAll(async () => {
  ({ checks } = await counts.run({ isQuick: false, rounds: ROUNDS, announce: () => undefined }));
});

test.each(Object.entries(COUNT_BUDGETS))('of a delivery, %s are at most %d', (what, budget) => {
  const figure = checks.find((check) => check.what === what)?.figure;
  expect(figure).toBeGreaterThan(0);
  expect(figure).toBeLessThanOrEqual(budget);
});
