import { ENDS } from '../testing/balance.ts';
import type { Figures } from './guarantees-table.ts';
import { lineOf, type Line } from './fault-texts.ts';
import type { Proof } from './prove.ts';

const COLUMNS = ['published', ...ENDS, 'lost', 'duplicates', 'moving again', 'at rest', 'peak MB'] as const;
const NAME_WIDTH = 52;

let hasHead = false;

/** Prints one fault as it has gone, its notes and problems below it, and the head before the first. */
export function reportFault(proof: Proof): void {
  const { row, name } = proof.fault;
  if (!hasHead) print('fault', [...COLUMNS]);
  hasHead = true;
  print(`${row} ${name}`, columnsOf(proof));
  for (const note of proof.notes ?? []) process.stderr.write(`    ${note}\n`);
  for (const problem of proof.problems) process.stderr.write(`    NOT KEPT: ${problem}\n`);
}

/** The table of docs/guarantees.md for these: a line for each row (for all of G1 to G5), over all of its faults. */
export function figuresOfLines(proofs: readonly Proof[]): Map<Line, Figures> {
  const lines = Map.groupBy(proofs, ({ fault }) => lineOf(fault.row));
  return new Map([...lines].map(([line, itsProofs]) => [line, sumOf(itsProofs)]));
}

function sumOf(proofs: readonly Proof[]): Figures {
  const sum = (figure: (proof: Proof) => number) =>
    proofs.reduce((total, proof) => total + figure(proof), 0).toLocaleString('en');
  const late = Math.max(...proofs.map(({ movingAgainSeconds = 0 }) => movingAgainSeconds));
  return {
    lost: sum(({ lost }) => lost.length),
    repeated: sum(({ balance }) => balance.duplicates),
    late: proofs.some(hasMoved) ? late.toFixed(1) : '',
  };
}

const hasMoved = ({ movingAgainSeconds }: Proof) => movingAgainSeconds !== undefined;

function columnsOf({ published, balance, movingAgainSeconds, atRestSeconds, peakMegabytes }: Proof): string[] {
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
