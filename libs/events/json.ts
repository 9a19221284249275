import { isWhole } from './json-decimal.ts';

/** A number as it was written: `0.10` and `1e400` stay what they are. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Maps keep members in the order received, and no key (`__proto__`) means anything to a map. */
export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The value as compact JSON text: numbers digit for digit, members in order, lone surrogates as `\udXXX`. */
export function writeJson(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof JsonNumber) return value.text;
  if (isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  let members = '';
  for (const [key, member] of value) members += `${members && ','}${JSON.stringify(key)}:${writeJson(member)}`;
  return `{${members}}`;
}

/** The value as plain JavaScript, for a schema to look at. A number keeps its kind (whole or not), not its digits. */
export function toPlain(value: JsonValue): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof JsonNumber) return plainNumber(value.text);
  if (isArray(value)) return value.map(toPlain);
  const plain: Record<string, unknown> = {};
  for (const [key, member] of value) {
    if (key === '__proto__') Object.defineProperty(plain, key, { value: toPlain(member), enumerable: true });
    else plain[key] = toPlain(member);
  }
  return plain;
}

/** Rounded to a double, `1e-400` and `9007199254740993.5` would look whole: half of one does not. */
function plainNumber(text: string): number {
  const rounded = Number(text);
  if (!/[.eE]/.test(text)) return rounded;
  const looksWhole = Number.isInteger(rounded) || !Number.isFinite(rounded);
  return looksWhole && !isWhole(text) ? 0.5 : rounded;
}
