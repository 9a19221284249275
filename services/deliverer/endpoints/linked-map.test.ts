import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LinkedMap } from './linked-map.ts';

describe('a ring', () => {
  test('is a map that can put things last', () => {
    const step = fc.tuple(fc.constantFrom('set', 'delete', 'toEnd'), fc.nat({ max: 9 }));
    expect(() =>
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const ring = new LinkedMap<number, string>();
          const map = new Map<number, string>();
          for (const [number, [what, key]] of steps.entries()) {
            const value = what === 'toEnd' ? map.get(key) : `${number}`;
            if (what !== 'set') map.delete(key);
            if (what !== 'delete' && value !== undefined) map.set(key, value);
            if (what === 'set') ring.set(key, `${number}`);
            if (what === 'delete') ring.delete(key);
            if (what === 'toEnd') ring.toEnd(key);
            expect([...ring]).toEqual([...map]);
            expect([ring.size, ring.get(key)]).toEqual([map.size, map.get(key)]);
          }
        }),
      ),
    ).not.toThrow();
  });
});
