import { afterAll, describe, expect, test } from '@jest/globals';
import { allFaults } from './all-faults.ts';
import { reportFault } from './fault-table.ts';
import { prove } from './prove.ts';
import { Stages } from './stage.ts';

const stages = new Stages('short');
const faults = allFaults.filter(({ suite }) => suite === 'long');

afterAll(() => stages[Symbol.asyncDispose]());

describe('everything comes to the end that it is owed, and nothing else, with', () => {
  test.each(faults.map((fault) => [`${fault.row} ${fault.name}`, fault] as const))('%s', async (_name, fault) => {
    const [proof] = await prove([fault], { stages, scale: 'short' });
    if (proof !== undefined) reportFault(proof);
    expect(proof?.problems).toEqual([]);
  });
});
