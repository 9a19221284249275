import { afterAll, describe, expect, test } from '@jest/globals';
import type { Fault } from './fault.ts';
import { reportFault } from './fault-table.ts';
import { prove } from './prove.ts';
import { Stages } from './stage.ts';

/** The daily part of the fault bench: each fault once, in its short form. */
export function proveDaily(faults: readonly Fault[]): void {
  const stages = new Stages('short');
  afterAll(() => stages[Symbol.asyncDispose]());

  describe('nothing is lost', () => {
    test.each(faults.filter(({ isDaily }) => isDaily).map((fault) => [`${fault.row} ${fault.name}`, fault] as const))(
      '%s',
      async (_name, fault) => {
        const proof = await prove(fault, { stages, scale: 'short' });
        reportFault(fault, proof);
        expect(proof.problems).toEqual([]);
      },
    );
  });
}
