/** One line of a file: its number, from 1, and its bytes without the line end. */
export type Line = { number: number; bytes: Buffer };

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** The lines that are not blank. Bytes stay bytes: whether they are UTF-8 is for the reader of events to say. */
export function splitLines(file: Buffer): Line[] {
  const lines: Line[] = [];
  for (let from = 0, number = 1; from < file.length; number += 1) {
    const newline = file.indexOf(NEWLINE, from);
    const to = newline === -1 ? file.length : newline;
    const bytes = file.subarray(from, to > from && file[to - 1] === RETURN ? to - 1 : to);
    if (bytes.some((byte) => byte > 0x20)) lines.push({ number, bytes });
    from = to + 1;
  }
  return lines;
}

/** Line numbers as people write them: `1-3, 7`. Expects them in ascending order. */
export function lineRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
