import { ENDS, type Balance } from './balance.ts';

export type FaultReport = {
  name: string;
  published: number;
  balance: Balance;
  /** From the fault until an event published after it is received. */
  movingAgainSeconds?: number;
  /** From the end of the load to the last end. */
  atRestSeconds?: number;
};

const COLUMNS = ['published', ...ENDS, 'lost', 'duplicates', 'moving again', 'at rest'] as const;
const NAME_WIDTH = 44;

let hasHead = false;

/** Prints one row of the table of faults, and its head before the first. */
export function reportFault({ name, published, balance, movingAgainSeconds, atRestSeconds }: FaultReport): void {
  const { lost, duplicates, ...ends } = balance;
  const times = [movingAgainSeconds, atRestSeconds].map((seconds) =>
    seconds === undefined ? '' : `${seconds.toFixed(1)} s`,
  );
  const figures = [published, ...ENDS.map((end) => ends[end]), lost.length, duplicates, ...times];
  if (!hasHead) print('fault', [...COLUMNS]);
  hasHead = true;
  print(name, figures.map(String));
}

function print(name: string, figures: string[]): void {
  const cells = figures.map((figure, place) => figure.padStart((COLUMNS[place]?.length ?? 0) + 2));
  process.stderr.write(`${name.padEnd(NAME_WIDTH)}${cells.join('')}\n`);
}
