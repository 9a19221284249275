/** JSON for code that computes: reads and writes numbers without rounding. */
import { types } from 'node:util';
import { type Invalid, invalidAt, type InvalidReason } from './event.ts';
import { isArray, isObject, isSameNumber, JsonNumber, type JsonValue, pointer, wholeDigits } from './json.ts';
import { type JsonReading, readJson } from './read-json.ts';

/** A number as code uses it: a `bigint` is a whole one that no double holds, a `JsonNumber` any other. */
export type Numeric = number | bigint | JsonNumber;

/** JSON whose numbers are none but those that were meant. */
export type ExactValue = null | boolean | string | Numeric | readonly ExactValue[] | ExactObject;
export type ExactObject = { readonly [name: string]: ExactValue };

type ExactReading = { kind: 'value'; value: ExactValue } | Extract<JsonReading, { kind: 'invalid' }>;

/**
 * Reads JSON for code that computes: a number is a `number` where a double says the same decimal number, else a `bigint`
 * where it is whole, else a `JsonNumber`. What `readJson` refuses is refused.
 */
export function readExact(bytes: Buffer, maxDepth: number): ExactReading {
  const reading = readJson(bytes, maxDepth);
  return reading.kind === 'invalid' ? reading : { kind: 'value', value: exactOf(reading.value) };
}

function exactOf(value: JsonValue): ExactValue {
  if (value instanceof JsonNumber) return numericOf(value);
  if (isArray(value)) return value.map(exactOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exactOf(member)]));
}

function numericOf(number: JsonNumber): Numeric {
  const double = Number(number.text);
  if (Number.isFinite(double) && isSameNumber(String(double), number.text)) return double;
  const digits = wholeDigits(number.text);
  return digits === undefined ? number : BigInt(digits);
}

/** The nearest double, for code that accepts rounding; infinite where the number is beyond all doubles. */
export function toNumber(value: Numeric): number {
  return Number(value instanceof JsonNumber ? value.text : value);
}

type ExactText = { kind: 'written'; text: string } | Invalid;

/**
 * Writes a value as JSON with the digits that it has: a `bigint` is a whole number, a `JsonNumber` is written as it stands.
 * Otherwise as `JSON.stringify` does, but what that would leave out or write as null without a word (NaN, a function,
 * an empty place in a list, the members of a Map) is refused, and text that has no UTF-8. Members that are undefined are
 * left out.
 */
export function writeExact(value: unknown, maxDepth: number): ExactText {
  try {
    return { kind: 'written', text: new Writer(maxDepth).write(value) };
  } catch (error) {
    if (error instanceof Unwritable) return error.fault;
    throw error;
  }
}

class Unwritable extends Error {
  readonly fault: Invalid;

  constructor(fault: Invalid) {
    super(fault.detail);
    this.fault = fault;
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

class Writer {
  readonly #maxDepth: number;
  readonly #path: (string | number)[] = [];

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  write(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return this.#writeText(value);
      case 'boolean':
      case 'bigint':
        return String(value);
      case 'number':
        return Number.isFinite(value) ? JSON.stringify(value) : this.#refuse(`must be a finite number, not ${value}`);
      case 'object':
        return value === null ? 'null' : this.#writeObject(value);
      case 'undefined':
      case 'function':
      case 'symbol':
        return this.#refuse(`must be a value that JSON has, not ${typeof value}`);
    }
  }

  #writeObject(value: object): string {
    const digits = digitsIn(value);
    if (digits !== undefined) return NUMBER.test(digits) ? digits : this.#refuse(`"${digits}" is not a number of JSON`);
    if (types.isDate(value) && Number.isNaN(value.getTime())) return this.#refuse('must be a date, not Invalid Date');
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.write(value.toJSON());
    if (this.#path.length === this.#maxDepth)
      throw new Unwritable({ ...this.#at(`nesting goes deeper than ${this.#maxDepth} levels`), reason: 'too_deep' });
    if (Array.isArray(value)) return `[${Array.from(value, (item, index) => this.#writeAt(index, item)).join(',')}]`;
    // Its content is in no member: an empty object would be written.
    if (Symbol.iterator in value) return this.#refuse(`must be a value that JSON has, not ${value.constructor.name}`);
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${this.#writeAt(name, name)}:${this.#writeAt(name, member)}`).join(',')}}`;
  }

  #writeAt(segment: string | number, value: unknown): string {
    this.#path.push(segment);
    const text = this.write(value);
    this.#path.pop();
    return text;
  }

  /** Half of a surrogate pair could be written as an escape, and Postgres and many readers would refuse that. */
  #writeText(text: string): string {
    return text.isWellFormed()
      ? JSON.stringify(text)
      : this.#refuse('must be whole characters, not half of a surrogate pair', 'not_utf8');
  }

  #refuse(what: string, reason: InvalidReason = 'not_json'): never {
    throw new Unwritable({ ...this.#at(what), reason });
  }

  #at(what: string): Invalid {
    return invalidAt('not_json', pointer(this.#path), what);
  }
}

/** The text of a `JsonNumber`, also of another copy of this code: a program may hold several. Read once: it is checked, and written, as read. */
function digitsIn(value: object): string | undefined {
  const text: unknown = 'text' in value ? value.text : undefined;
  if (value instanceof JsonNumber) return String(text);
  const isAlike = 'toJSON' in value && Object.keys(value).length === 1;
  return isAlike && typeof text === 'string' && NUMBER.test(text) ? text : undefined;
}
