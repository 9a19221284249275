/**
 * JSON as it was written: values whose numbers keep every digit (`JsonNumber`, and the exact value of one), and the places of
 * members in it.
 */

declare global {
  interface JSON {
    /** ECMAScript 2026: what `stringify` writes as it stands. */
    rawJSON?(text: string): unknown;
  }
}

/** A number that JavaScript would not write as it was written: `0.10`, `1e400`, 9007199254740993. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** A text with every digit where JavaScript has no raw numbers yet (Node 20). */
  toJSON(): unknown {
    return JSON.rawJSON?.(this.text) ?? this.text;
  }

  toString(): string {
    return this.text;
  }
}

/** The text of a number as it was written; undefined of anything else. */
export function digitsOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return value instanceof JsonNumber ? value.text : undefined;
}

/** A JSON number, digit for digit. */
export function numberOf(text: string): number | JsonNumber {
  const number = Number(text);
  return String(number) === text ? number : new JsonNumber(text);
}

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

/** A number's exact value: `digits` × 10^`exponent`, `digits` without zeros at either end; zero has none. */
type Decimal = { isNegative: boolean; digits: string; exponent: bigint };

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

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

/** Its members are its own, in the order received, `__proto__` among them: look up only names that no prototype has. */
export type JsonObject = { readonly [name: string]: JsonValue };
export type JsonValue = null | boolean | string | number | JsonNumber | readonly JsonValue[] | JsonObject;

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

const INDEX = /^\d+$/;

export function objectOf(members: ReadonlyMap<string, JsonValue>): JsonObject {
  const object: Record<string, JsonValue> = {};
  let isInOrder = true;
  for (const [name, value] of members) {
    if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true });
    else object[name] = value;
    isInOrder &&= !INDEX.test(name);
  }
  if (isInOrder) return object;
  // JavaScript puts names such as `2` first; an object that has one says itself in which order they came.
  const names = [...members.keys()];
  return new Proxy(object, { ownKeys: () => names });
}

/** The value as compact JSON text: numbers digit for digit, members in order, lone surrogates as `\udXXX`. */
export function writeJson(value: JsonValue): string {
  return JSON.stringify(value);
}

/** The value as plain JavaScript, for a schema to look at. A number keeps its kind (whole or not), not its digits. */
export function toPlain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return plainNumber(value.text);
  if (isArray(value)) return value.map(toPlain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toPlain(member)]));
}

/** Rounded to a double, `1e-400` and `9007199254740993.5` would look whole: half of one does not. */
function plainNumber(text: string): number {
  const rounded = Number(text);
  if (!/[.eE]/.test(text)) return rounded;
  const looksWhole = Number.isInteger(rounded) || !Number.isFinite(rounded);
  return looksWhole && !isWhole(text) ? 0.5 : rounded;
}

const MAX_LENGTH = 200;

/** The JSON pointer (RFC 6901) of a place, fit for a log line: cut at 200 characters, nothing unprintable in it. */
export function pointer(path: readonly (string | number)[]): string {
  return printable(path.map((segment) => pointerTo(String(segment))).join(''));
}

/** The segment of a pointer that leads to a member. */
export function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export function printable(text: string): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  // Quoting escapes control characters and lone surrogates.
  return JSON.stringify(short)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll('\x7f', String.raw`\u007f`);
}
