import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { greatCircleM, type Position } from './vehicle.ts';

const position = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});
const at = (latitude: number, longitude: number): Position => ({ latitude, longitude });
const HALF_WAY_ROUND_M = Math.PI * 6_371_008.8;

describe('greatCircleM', () => {
  test.each<[what: string, from: Position, to: Position, metres: number]>([
    ['London to Paris', at(51.5074, -0.1278), at(48.8566, 2.3522), 343_556],
    ['a degree of latitude', at(10, 20), at(11, 20), 111_195],
    ['across the antimeridian', at(0, 179.995), at(0, -179.995), 1_112],
    ['across the pole', at(89.995, 0), at(89.995, 180), 1_112],
    ['around the pole itself, where longitude means nothing', at(90, 0), at(90, 137), 0],
    ['to the other side of the Earth', at(0, 0), at(0, 180), HALF_WAY_ROUND_M],
  ])('measures %s', (_what, from, to, metres) => {
    expect(Math.abs(greatCircleM(from, to) - metres)).toBeLessThan(1);
  });

  test('is the same both ways, never negative, and nowhere more than half way round', () => {
    fc.assert(
      fc.property(position, position, (from, to) => {
        const metres = greatCircleM(from, to);
        expect(metres).toBeCloseTo(greatCircleM(to, from), 6);
        expect(metres).toBeGreaterThanOrEqual(0);
        expect(metres).toBeLessThanOrEqual(HALF_WAY_ROUND_M + 1);
      }),
    );
  });
});
