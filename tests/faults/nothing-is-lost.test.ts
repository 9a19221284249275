import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allFaults } from './all-faults.ts';
import { reportFault } from './fault-table.ts';
import { prove, type Proof } from './prove.ts';
import { buildSharingStage, Stages } from './stage.ts';

const stages = new Stages('short');
const faults = allFaults.filter(({ gates }) => gates).map((fault) => ({ ...fault, buildStage: buildSharingStage }));
let proofs: Proof[];

beforeAll(async () => {
  proofs = await prove(faults, { stages, scale: 'short' });
  proofs.forEach(reportFault);
});

afterAll(() => stages[Symbol.asyncDispose]());

describe('everything comes to the end that it is owed, and nothing else, with', () => {
  test.each(faults.map(({ row, name }, place) => [`${row} ${name}`, place] as const))('%s', (_name, place) => {
    expect(proofs[place]?.problems).toEqual([]);
  });
});
