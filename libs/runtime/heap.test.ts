import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Heap } from './heap.ts';

test('gives the least of all that it has, whatever comes and goes', () => {
  const steps = fc.array(fc.oneof(fc.nat({ max: 20 }), fc.constant('pop' as const)), { maxLength: 60 });
  const law = fc.property(steps, (all) => {
    const heap = new Heap<number>((one, other) => one < other);
    const has: number[] = [];
    for (const step of all) {
      const popped = step === 'pop' ? [heap.pop(), has.shift()] : [];
      if (step !== 'pop') heap.push(step);
      if (step !== 'pop') has.push(step);
      has.sort((one, other) => one - other);
      expect([popped[0], heap.first]).toEqual([popped[1], has[0]]);
    }
  });
  expect(() => fc.assert(law)).not.toThrow();
});
