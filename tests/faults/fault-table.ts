import { commitHere } from '@waybell/cli/version';
import { ENDS } from '../testing/balance.ts';
import { lineOf, PROMISES, type Line } from './promises.ts';
import type { Proof } from './prove.ts';
import type { Scale } from './stage.ts';

const COLUMNS = ['published', ...ENDS, 'lost', 'duplicates', 'moving again', 'at rest', 'peak MB'] as const;
const NAME_WIDTH = 52;
const TABLE_HEAD = [
  '| Row | What happens, and what is promised | Form | Events | Lost | Repeated | Moving again | Peak MB | At |',
  '|---|---|---|---|---|---|---|---|---|',
];

let hasHead = false;

/** Prints one fault as it has gone, its notes and problems below it, and the head before the first. */
export function reportFault(proof: Proof): void {
  const { row, name } = proof.fault;
  if (!hasHead) print('fault', [...COLUMNS]);
  hasHead = true;
  print(`${row} ${name}`, figuresOf(proof));
  for (const note of proof.notes ?? []) process.stderr.write(`    ${note}\n`);
  for (const problem of proof.problems) process.stderr.write(`    NOT KEPT: ${problem}\n`);
}

/** The table of docs/guarantees.md, as far as these proofs say it: a line for each row (for all of G1 to G5), over all of its faults. */
export function tableOf(proofs: readonly Proof[], scale: Scale): string[] {
  const lines = Map.groupBy(proofs, ({ fault }) => lineOf(fault.row));
  return [
    ...TABLE_HEAD,
    ...[...lines].map(([line, itsProofs]) => `| ${cellsOf(line, itsProofs, scale).join(' | ')} |`),
  ];
}

function cellsOf(line: Line, proofs: readonly Proof[], scale: Scale): string[] {
  const [sum, most] = [
    (figure: (proof: Proof) => number) => proofs.reduce((total, proof) => total + figure(proof), 0),
    (figure: (proof: Proof) => number) => proofs.reduce((largest, proof) => Math.max(largest, figure(proof)), 0),
  ];
  return [
    line,
    PROMISES[line],
    scale,
    sum(({ published }) => published).toLocaleString('en'),
    String(sum(({ lost }) => lost.length)),
    sum(({ balance }) => balance.duplicates).toLocaleString('en'),
    proofs.some(hasMoved) ? `${most(({ movingAgainSeconds = 0 }) => movingAgainSeconds).toFixed(1)} s` : '',
    String(most(({ peakMegabytes }) => peakMegabytes)),
    commitHere() ?? 'no commit',
  ];
}

const hasMoved = ({ movingAgainSeconds }: Proof) => movingAgainSeconds !== undefined;

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
