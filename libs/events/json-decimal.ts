/** A number's exact value: `digits` × 10^`exponent`, `digits` without zeros at either end; zero has none. */
type Decimal = { isNegative: boolean; digits: string; exponent: bigint };

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether two JSON numbers have the same decimal value: `100.0` and `1e2` do, at any length and any exponent. */
export function isSameNumber(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [readDecimal(one), readDecimal(other)];
  return left.digits === right.digits && left.isNegative === right.isNegative && left.exponent === right.exponent;
}

/** Whether a JSON number is a whole one, as `1.0` and `25e-1` are and are not. */
export function isWhole(text: string): boolean {
  return readDecimal(text).exponent >= 0n;
}

/** More zeros than any field has: an exponent must not make gigabytes of digits. */
const MOST_ZEROS = 1_000n;

/** The digits of a whole number, however it is written: `1.5e3` is `1500`. Undefined of another, and of one with very many zeros. */
export function wholeDigits(text: string): string | undefined {
  const { isNegative, digits, exponent } = readDecimal(text);
  if (digits === '') return '0';
  if (exponent < 0n || exponent > MOST_ZEROS) return undefined;
  return `${isNegative ? '-' : ''}${digits}${'0'.repeat(Number(exponent))}`;
}

function readDecimal(text: string): Decimal {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const written = whole + fraction;
  const start = firstOther(written, 0, 1);
  if (start === written.length) return { isNegative: false, digits: '', exponent: 0n };
  const end = firstOther(written, written.length - 1, -1) + 1;
  const shift = written.length - end - fraction.length;
  return { isNegative: sign === '-', digits: written.slice(start, end), exponent: BigInt(exponent) + BigInt(shift) };
}

/** The index at which the zeros that begin at `index` end, going in steps of `step`. */
function firstOther(digits: string, index: number, step: 1 | -1): number {
  let at = index;
  while (digits[at] === '0') at += step;
  return at;
}
