import { ENDS } from '../testing/balance.ts';
import type { Proof } from './prove.ts';

const COLUMNS = ['published', ...ENDS, 'lost', 'duplicates', 'moving again', 'at rest', 'peak MB'] as const;
const NAME_WIDTH = 52;

let hasHead = false;

/** Prints one row of the table of faults, its notes and problems below it, and the head before the first row. */
export function reportFault(proof: Proof): void {
  const { row, name } = proof.fault;
  if (!hasHead) print('fault', [...COLUMNS]);
  hasHead = true;
  print(`${row} ${name}`, figuresOf(proof));
  for (const note of proof.notes ?? []) process.stderr.write(`    ${note}\n`);
  for (const problem of proof.problems) process.stderr.write(`    NOT KEPT: ${problem}\n`);
}

function figuresOf({ published, balance, movingAgainSeconds, atRestSeconds, peakMegabytes }: Proof): string[] {
  const { lost, duplicates, ...ends } = balance;
  const times = [movingAgainSeconds, atRestSeconds].map((seconds) =>
    seconds === undefined ? '' : `${seconds.toFixed(1)} s`,
  );
  return [published, ...ENDS.map((end) => ends[end]), lost.length, duplicates, ...times, peakMegabytes].map(String);
}

function print(name: string, figures: string[]): void {
  const cells = figures.map((figure, place) => figure.padStart((COLUMNS[place]?.length ?? 0) + 2));
  process.stderr.write(`${name.padEnd(NAME_WIDTH)}${cells.join('')}\n`);
}
