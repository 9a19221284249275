import { isWhole } from './json-decimal.ts';

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

/** Its members are its own, in the order received, `__proto__` among them: look up only names that no prototype has. */
export type JsonObject = { readonly [name: string]: JsonValue };
export type JsonValue = null | boolean | string | number | JsonNumber | readonly JsonValue[] | JsonObject;

const INDEX = /^\d+$/;

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

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

/** A JSON number, digit for digit. */
export function numberOf(text: string): number | JsonNumber {
  const number = Number(text);
  return String(number) === text ? number : new JsonNumber(text);
}

/** The text of a number as it was written; undefined of anything else. */
export function digitsOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return value instanceof JsonNumber ? value.text : undefined;
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
