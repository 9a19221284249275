import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allFaults } from './all-faults.ts';
import { reportFault } from './fault-table.ts';
import { Proving, type Proof } from './prove.ts';
import { buildSharingStage, Stages } from './stage.ts';

const stages = new Stages('short');
const faults = allFaults.filter(({ gates }) => gates).map((fault) => ({ ...fault, buildStage: buildSharingStage }));
const [first] = faults;
if (first === undefined) throw new Error('no fault gates');
let proving: Proving;

beforeAll(async () => (proving = await Proving.begin(first, { stages, scale: 'short' })));

afterAll(() => stages[Symbol.asyncDispose]());

test.each(faults)('what $row $name has hit comes to an end', async (fault) => {
  await expect(proving.bringAbout(fault)).resolves.toBeUndefined();
});

describe('everything comes to the end that it is owed, and nothing else, with', () => {
  let proofs: Proof[];

  beforeAll(async () => {
    proofs = await proving.settle();
    proofs.forEach(reportFault);
  });

  test.each(faults)('$row $name', ({ name }) => {
    expect(proofs.find(({ fault }) => fault.name === name)?.problems).toEqual([]);
  });
});
