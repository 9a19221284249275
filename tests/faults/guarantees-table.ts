/** The table of docs/guarantees.md: what each fault cost, with both versions of RabbitMQ. */
import { FAULT_TEXTS, type Line } from './fault-texts.ts';

export const GUARANTEES = 'docs/guarantees.md';

/** The text of a row for one version. */
export type Figures = { lost: string; repeated: string; late: string };

/** The versions, in the order of a cell. */
export const VERSIONS = ['3.10', '4.0'] as const;
export type Version = (typeof VERSIONS)[number];

const HEAD = ['| | Fault | Lost | Repeated | Late, s |', '|---|---|---|---|---|'];
const ROW = /^\| (?<line>[LGD]\d*) \| .* \|$/;
const BETWEEN = '·';
const NOT_MEASURED = '–';

/** The page, with these figures of that version in the place of those that it had. */
export function withFigures(page: string, version: Version, figures: ReadonlyMap<Line, Figures>): string {
  const rows = page.split('\n').map((row) => {
    const found = figures.get(lineOfRow(row));
    return found === undefined ? row : rowWith(row, version, found);
  });
  return rows.join('\n');
}

/** The rows of those lines, with the head of the table. */
export function tableOf(page: string, lines: readonly Line[]): string[] {
  return [...HEAD, ...page.split('\n').filter((row) => lines.includes(lineOfRow(row)))];
}

/** Each row of the page, as its cells. */
export const rowsOf = (page: string): string[][] =>
  page
    .split('\n')
    .filter((row) => ROW.test(row))
    .map(cellsOf);

function rowWith(row: string, version: Version, { lost, repeated, late }: Figures): string {
  const [line = '', , ...before] = cellsOf(row);
  const cells = [lost, repeated, late].map((figure, place) => {
    const [first, second] = (before[place] ?? '').split(BETWEEN);
    const both = [first || NOT_MEASURED, second || NOT_MEASURED];
    return both.with(VERSIONS.indexOf(version), figure || NOT_MEASURED).join(BETWEEN);
  });
  return `| ${[line, FAULT_TEXTS[line as Line], ...cells].join(' | ')} |`;
}

const lineOfRow = (row: string): Line => ROW.exec(row)?.groups?.['line'] as Line;
const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
