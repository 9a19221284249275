import { isUtf8 } from 'node:buffer';
import {
  isArray,
  isObject,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
  numberOf,
  objectOf,
  pointer,
} from './json.ts';

export type JsonFault = 'not_utf8' | 'not_json' | 'duplicate_key' | 'nul_in_string' | 'too_deep';
export type JsonReading =
  /** `isPlain`: no number in it needs a second look at its form. */
  | { kind: 'value'; value: JsonValue; isPlain: boolean }
  | { kind: 'invalid'; reason: JsonFault; detail: string; place?: string };

/**
 * Reads JSON and keeps what JavaScript's own reader loses: the digits of numbers, the order of members, keys such as
 * `__proto__`. Refuses invalid UTF-8, duplicate keys, NUL in strings and more than `maxDepth` levels of nesting, and
 * says where. (lossless-json lets a repeated key pass where the values are equal, writes `__proto__` through to the
 * prototype, and neither limits depth nor names a place.)
 */
export function readJson(bytes: Buffer, maxDepth: number): JsonReading {
  if (!isUtf8(bytes))
    return {
      kind: 'invalid',
      reason: 'not_utf8',
      detail: `byte ${firstBadByte(bytes)} is not UTF-8: write the JSON in UTF-8`,
    };
  const text = bytes.toString('utf8');
  const value = parseLossless(text, maxDepth);
  if (value !== undefined) return { kind: 'value', value, isPlain: true };
  const reader = new JsonReader(text, maxDepth);
  try {
    return { kind: 'value', value: reader.readDocument(), isPlain: reader.isPlain };
  } catch (error) {
    if (error instanceof UnreadableJson) return { kind: 'invalid', ...error.fault };
    throw error;
  }
}

const NUL = String.raw`\u0000`;

/**
 * Parses with JavaScript's own reader if its writer returns the very same text: then nothing was lost, no member is repeated and
 * no order changed. Most publishers write so, and this takes a fraction of the time. Returns undefined if the lossless reader
 * must parse the text or explain its fault.
 */
function parseLossless(text: string, maxDepth: number): JsonValue | undefined {
  // With white space between names and values the comparison would always fail.
  if (text[text.indexOf(':') + 1] === ' ') return undefined;
  try {
    const value = JSON.parse(text) as JsonValue; // As long as it is written the same, it is what the type says.
    return JSON.stringify(value) === text && !text.includes(NUL) && isWithin(value, maxDepth) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWithin(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (isArray(value)) return value.every((item) => isWithin(item, levels - 1));
  if (!isObject(value)) return true;
  for (const name in value) if (!isWithin(value[name] ?? null, levels - 1)) return false;
  return true;
}

type JsonFaultDetail = { reason: JsonFault; detail: string; place?: string };

class UnreadableJson extends Error {
  readonly fault: JsonFaultDetail;

  constructor(fault: JsonFaultDetail) {
    super(fault.detail);
    this.fault = fault;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const LITERALS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

class JsonReader {
  isPlain = true;
  private readonly text: string;
  private readonly maxDepth: number;
  private at = 0;
  private depth = 0;
  /** Keys and indexes that lead to the value being read; only the first `depth` of them count. */
  private readonly path: (string | number)[] = [];

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
  }

  readDocument(): JsonValue {
    if (Number.isNaN(this.peek())) this.fail('not_json', 'the body is empty');
    const value = this.readValue();
    if (!Number.isNaN(this.peek())) this.fail('not_json', 'there is more after the end of the JSON value');
    return value;
  }

  private readValue(): JsonValue {
    const code = this.peek();
    if (code === QUOTE) return this.readString();
    if (code === OPEN_BRACE) return this.readObject();
    if (code === OPEN_BRACKET) return this.readArray();
    const number = this.match(NUMBER);
    if (number !== undefined) return this.leaveNumber(numberOf(number));
    const literal = LITERALS[this.match(LITERAL) ?? ''];
    return literal === undefined ? this.fail('not_json', 'a value is expected') : literal;
  }

  private readObject(): JsonObject {
    const members = new Map<string, JsonValue>();
    this.enter();
    if (this.skip(CLOSE_BRACE)) return this.leave({});
    do {
      // A faulty name is a fault of this object, not of the member before.
      this.path.length = this.depth - 1;
      if (this.peek() !== QUOTE) this.fail('not_json', 'a member name in double quotes is expected');
      const key = this.readString();
      this.path[this.depth - 1] = key;
      if (members.has(key)) this.fail('duplicate_key', 'the member is there twice');
      if (!this.skip(COLON)) this.fail('not_json', 'a colon is expected');
      members.set(key, this.readValue());
    } while (this.skip(COMMA));
    if (!this.skip(CLOSE_BRACE)) this.fail('not_json', 'a comma or a closing brace is expected');
    return this.leave(objectOf(members));
  }

  private readArray(): readonly JsonValue[] {
    const items: JsonValue[] = [];
    this.enter();
    if (this.skip(CLOSE_BRACKET)) return this.leave(items);
    do {
      this.path[this.depth - 1] = items.length;
      items.push(this.readValue());
    } while (this.skip(COMMA));
    if (!this.skip(CLOSE_BRACKET)) this.fail('not_json', 'a comma or a closing bracket is expected');
    return this.leave(items);
  }

  private readString(): string {
    const start = this.at + 1;
    for (let end = start; ; end += 1) {
      const code = this.text.charCodeAt(end);
      if (code === QUOTE) {
        this.at = end + 1;
        return this.text.slice(start, end);
      }
      if (code === BACKSLASH) return this.readEscapedString(start, end);
      if (!(code >= SPACE)) this.failInString(end, code);
    }
  }

  private readEscapedString(start: number, firstEscape: number): string {
    let end = firstEscape;
    for (let code = BACKSLASH; code !== QUOTE; code = this.text.charCodeAt(end)) {
      if (!(code >= SPACE)) this.failInString(end, code);
      end += code === BACKSLASH ? 2 : 1;
    }
    const value = parseString(this.text.slice(start - 1, end + 1));
    if (value === undefined) this.fail('not_json', 'a string holds an escape that JSON does not have');
    if (value.includes('\0')) this.fail('nul_in_string', 'a string holds a NUL, which receivers cannot store');
    this.at = end + 1;
    return value;
  }

  private failInString(index: number, code: number): never {
    this.at = index;
    if (code === 0) this.fail('nul_in_string', 'a string holds a NUL, which receivers cannot store');
    return this.fail('not_json', Number.isNaN(code) ? 'a string does not end' : 'a control character is not escaped');
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const text = pattern.exec(this.text)?.[0];
    this.at += text?.length ?? 0;
    return text;
  }

  /** The next character that is not white space; NaN at the end. */
  private peek(): number {
    let code = this.text.charCodeAt(this.at);
    while (code === SPACE || code === 0x0a || code === 0x0d || code === 0x09) {
      this.at += 1;
      code = this.text.charCodeAt(this.at);
    }
    return code;
  }

  private skip(code: number): boolean {
    if (this.peek() !== code) return false;
    this.at += 1;
    return true;
  }

  private enter(): void {
    if (this.depth === this.maxDepth) this.fail('too_deep', `nesting goes deeper than ${this.maxDepth} levels`);
    this.at += 1;
    this.depth += 1;
    this.path.length = this.depth - 1;
  }

  private leaveNumber(number: number | JsonNumber): number | JsonNumber {
    this.isPlain &&= typeof number === 'number';
    return number;
  }

  private leave<T>(value: T): T {
    this.depth -= 1;
    return value;
  }

  private fail(reason: JsonFault, message: string): never {
    const place = pointer(this.path.slice(0, this.depth));
    const detail = `${place || 'the body'} (${placeIn(this.text, this.at)}): ${message}`;
    throw new UnreadableJson({ reason, detail, ...(place === '' ? {} : { place }) });
  }
}

function placeIn(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  const character = `character ${(lines.at(-1)?.length ?? 0) + 1}`;
  return lines.length === 1 ? character : `${character} of its line ${lines.length}`;
}

function parseString(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string; // A quoted text parses to a string or not at all.
  } catch {
    return undefined;
  }
}

/** 1-based. Decoding replaces invalid bytes, so encoding again first differs there. */
function firstBadByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'));
  return bytes.findIndex((byte, index) => byte !== again[index]) + 1;
}
