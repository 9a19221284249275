import { describe, expect, test } from '@jest/globals';
import { Dice } from '../actions/generate/dice.ts';
import { exclude, mishaps } from './mishaps.ts';
import { planOverlaps } from './overlaps.ts';

const LENGTH_MS = 3_600_000;
const planOf = (seed: number) => planOverlaps(mishaps, new Dice(seed), LENGTH_MS);

describe('a plan of mishaps that overlap', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(planOf(7)).toEqual(planOf(7));
    expect(planOf(7)).not.toEqual(planOf(8));
  });

  test('has none at the same time that exclude each other', () => {
    const planned = planOf(7);
    const clashes = planned.flatMap((one, place) =>
      planned
        .slice(place + 1)
        .filter((other) => other.atMs < one.atMs + one.forMs && exclude(one.mishap, other.mishap)),
    );
    expect(clashes).toEqual([]);
  });

  test.each([
    [/ alarm$/, /^(event-router|deliverer) killed$/],
    [/ stalled$/, /^(event-router|deliverer) told to stop$/],
    [/^redis (stopped|killed|frozen)$/, /^connections /],
    [/^postgres frozen$/, /^deliverer (killed|told to stop)$/],
  ])('has %p and %p overlap', (one, other) => {
    const planned = planOf(7);
    const isBeside = planned.some(
      ({ mishap, atMs, forMs }) =>
        one.test(mishap.name) &&
        planned.some(
          (each) => other.test(each.mishap.name) && each.atMs < atMs + forMs && atMs < each.atMs + each.forMs,
        ),
    );
    expect(isBeside).toBe(true);
  });
});
