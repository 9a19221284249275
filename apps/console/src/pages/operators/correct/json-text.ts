/** A JSON text as an editor shows it: the line of a place, where it stops being JSON, its layout. No digit of it ever changes. */

/** Lines of a text, from 1. */
type Places = {
  /** The line of the value at the pointer, or of the nearest one around it. */
  line: number;
  /** The line where the text stops being JSON; undefined if it is JSON. */
  brokenLine: number | undefined;
};

/** Finds the place that `pointer` names, a JSON Pointer as a URI fragment. The text may be nested to any depth. */
export function placesIn(text: string, pointer: string): Places {
  const walk = new Walk(segmentsOf(pointer));
  TOKEN.lastIndex = 0;
  for (;;) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) {
      const isWhole = walk.isDone && text.slice(from).trim() === '';
      const brokenLine = isWhole ? undefined : lineOf(text, afterBlanks(text, from));
      return { line: lineOf(text, walk.found), brokenLine };
    }
    const [whole, string, literal, sign = ''] = match;
    const at = TOKEN.lastIndex - whole.trimStart().length;
    if (!walk.accepts({ at, string, literal, sign }))
      return { line: lineOf(text, walk.found), brokenLine: lineOf(text, at) };
  }
}

const TOKEN =
  // oxlint-disable-next-line no-control-regex -- no string of JSON has one as it is
  /[ \t\r\n]*(?:("(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y;

type JsonFrame = { isObject: boolean; segment: string; index: number; isOnPath: boolean };
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';
type Token = { at: number; string: string | undefined; literal: string | undefined; sign: string };

/** Reads the tokens of a JSON text. `found` is where it came nearest to the end of the path. */
class Walk {
  found = 0;
  readonly #path: readonly string[];
  readonly #stack: JsonFrame[] = [];
  #expected: Expected = 'value';
  #keyAt = 0;

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  get isDone(): boolean {
    return this.#expected === 'nothing';
  }

  /** Reads the next token. Returns false if no JSON continues with it. */
  accepts({ at, string, literal, sign }: Token): boolean {
    const frame = this.#stack.at(-1);
    const isValueDue = this.#expected === 'value' || this.#expected === 'value or end';
    if (string !== undefined && frame !== undefined && this.#expected.startsWith('key')) {
      frame.segment = String(JSON.parse(string));
      this.#keyAt = at;
      this.#expected = 'colon';
    } else if ((string !== undefined || literal !== undefined) && isValueDue) {
      this.#begin(at);
      this.#end();
    } else if ((sign === '{' || sign === '[') && isValueDue) {
      this.#stack.push({ isObject: sign === '{', segment: '0', index: 0, isOnPath: this.#begin(at) });
      this.#expected = sign === '{' ? 'key or end' : 'value or end';
    } else if (sign === ':' && this.#expected === 'colon') {
      this.#expected = 'value';
    } else if (sign === ',' && frame !== undefined && this.#expected === 'comma or end') {
      frame.index += 1;
      frame.segment = String(frame.index);
      this.#expected = frame.isObject ? 'key' : 'value';
    } else if (frame !== undefined && closes(sign, frame, this.#expected)) {
      this.#stack.pop();
      this.#end();
    } else {
      return false;
    }
    return true;
  }

  /** Begins a value. Returns whether it is on the path. */
  #begin(at: number): boolean {
    const frame = this.#stack.at(-1);
    const isOnPath = frame === undefined || (frame.isOnPath && frame.segment === this.#path[this.#stack.length - 1]);
    if (isOnPath) this.found = frame?.isObject ? this.#keyAt : at;
    return isOnPath;
  }

  #end(): void {
    this.#expected = this.#stack.length === 0 ? 'nothing' : 'comma or end';
  }
}

function closes(sign: string, { isObject }: JsonFrame, expected: Expected): boolean {
  if (sign !== (isObject ? '}' : ']')) return false;
  return expected === 'comma or end' || expected === (isObject ? 'key or end' : 'value or end');
}

function segmentsOf(pointer: string): string[] {
  const [, ...segments] = pointer.replace(/^#/, '').split('/');
  return segments.map((segment) => decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  // A text that ends too soon is broken in its last line, not in an empty one after it.
  return at === text.length ? from : at;
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** A string, or anything else without blanks. */
const PARTS = /"(?:[^"\\]|\\.)*"|[^\s"]+/g;

/** Whether a body is JSON on a single line, and has to be laid out before the number of a line is of use. */
export const isOnOneLine = (body: string): boolean => !body.trim().includes('\n') && isJson(body);

/** Removes the blanks between the tokens of JSON: laid out, it may exceed the size of an event. Any other text stays as it is. */
export const withoutBlanks = (text: string): string =>
  isJson(text) ? Array.from(text.matchAll(PARTS), ([part]) => part).join('') : text;

const isJson = (text: string): boolean => placesIn(text, '#').brokenLine === undefined;
