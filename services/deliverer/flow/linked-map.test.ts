import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LinkedEntry, LinkedMap } from './slots.ts';

describe('a ring', () => {
  test('is a map that can put things last', () => {
    const step = fc.tuple(fc.constantFrom('add', 'delete', 'toEnd'), fc.nat({ max: 9 }));
    expect(() =>
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const ring = new LinkedMap<number, LinkedEntry<number, string>>();
          const map = new Map<number, string>();
          for (const [number, [what, key]] of steps.entries()) {
            const value = map.get(key) ?? `${number}`;
            const isKnown = map.has(key);
            if (what !== 'add') map.delete(key);
            if (what === 'add' || (what === 'toEnd' && isKnown)) map.set(key, value);
            if (what === 'add' && !isKnown) ring.add(new LinkedEntry(key, value));
            if (what === 'delete') ring.delete(key);
            if (what === 'toEnd') ring.toEnd(key);
            expect([...ring].map((each) => [each.key, each.value])).toEqual([...map]);
            expect([ring.size, ring.get(key)?.value]).toEqual([map.size, map.get(key)]);
          }
        }),
      ),
    ).not.toThrow();
  });
});
