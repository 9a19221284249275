import { ENDS, type Balance } from './balance.ts';

export type FaultReport = { name: string; published: number; balance: Balance; movingAgainSeconds?: number };

const COLUMNS = ['published', ...ENDS, 'lost', 'duplicates', 'moving again'] as const;
const NAME_WIDTH = 44;

let hasHead = false;

/** Prints one row of the table of faults, and its head before the first. */
export function reportFault({ name, published, balance, movingAgainSeconds }: FaultReport): void {
  const { lost, duplicates, ...ends } = balance;
  const moving = movingAgainSeconds === undefined ? '' : `${movingAgainSeconds.toFixed(1)} s`;
  const figures = [published, ...ENDS.map((end) => ends[end]), lost.length, duplicates, moving];
  if (!hasHead) print('fault', [...COLUMNS]);
  hasHead = true;
  print(name, figures.map(String));
}

function print(name: string, figures: string[]): void {
  const cells = figures.map((figure, place) => figure.padStart((COLUMNS[place]?.length ?? 0) + 2));
  process.stderr.write(`${name.padEnd(NAME_WIDTH)}${cells.join('')}\n`);
}
