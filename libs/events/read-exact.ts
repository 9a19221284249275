import type { ExactValue, Numeric } from './exact-json.ts';
import { isArray, isObject, JsonNumber, type JsonValue } from './json.ts';
import { isSameNumber, wholeDigits } from './json-decimal.ts';
import { readJson, type JsonReading } from './read-json.ts';

export type ExactReading = { kind: 'value'; value: ExactValue } | Extract<JsonReading, { kind: 'invalid' }>;

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
