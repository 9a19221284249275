/** Where in a text a JSON pointer leads, by line, from 1. */
export type Places = {
  /** Of the value there, or of the nearest one around it. */
  line: number;
  /** Where the text stops being JSON; undefined: it is JSON. */
  brokenLine: number | undefined;
};

type Frame = { isObject: boolean; segment: string; index: number; isOnPath: boolean };
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

const TOKEN =
  /[ \t\r\n]*(?:("(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y;

/** Finds the place that `pointer` names, a JSON Pointer as a URI fragment. However deep the text is nested, it is read. */
export function placesIn(text: string, pointer: string): Places {
  const path = segmentsOf(pointer);
  const stack: Frame[] = [];
  let expected: Expected = 'value';
  let found = 0;
  let keyAt = 0;
  TOKEN.lastIndex = 0;

  const begin = (at: number): boolean => {
    const frame = stack.at(-1);
    const isOnPath = frame === undefined || (frame.isOnPath && frame.segment === path[stack.length - 1]);
    if (isOnPath) found = frame?.isObject ? keyAt : at;
    return isOnPath;
  };
  const afterValue = (): Expected => (stack.length === 0 ? 'nothing' : 'comma or end');

  for (;;) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) {
      const isDone = expected === 'nothing' && text.slice(from).trim() === '';
      return { line: lineOf(text, found), brokenLine: isDone ? undefined : lineOf(text, afterBlanks(text, from)) };
    }
    const [whole, string, literal, sign = ''] = match;
    const at = TOKEN.lastIndex - whole.trimStart().length;
    const frame = stack.at(-1);
    const isValueDue = expected === 'value' || expected === 'value or end';
    if (string !== undefined && (expected === 'key' || expected === 'key or end') && frame !== undefined) {
      frame.segment = String(JSON.parse(string));
      keyAt = at;
      expected = 'colon';
    } else if ((string !== undefined || literal !== undefined) && isValueDue) {
      begin(at);
      expected = afterValue();
    } else if ((sign === '{' || sign === '[') && isValueDue) {
      stack.push({ isObject: sign === '{', segment: '0', index: 0, isOnPath: begin(at) });
      expected = sign === '{' ? 'key or end' : 'value or end';
    } else if (sign === ':' && expected === 'colon') {
      expected = 'value';
    } else if (sign === ',' && expected === 'comma or end' && frame !== undefined) {
      frame.index += 1;
      frame.segment = String(frame.index);
      expected = frame.isObject ? 'key' : 'value';
    } else if (frame !== undefined && closes(sign, frame, expected)) {
      stack.pop();
      expected = afterValue();
    } else {
      return { line: lineOf(text, found), brokenLine: lineOf(text, at) };
    }
  }
}

function closes(sign: string, { isObject }: Frame, expected: Expected): boolean {
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
  // At the end of the text, its last line is meant, not one after it.
  return at === text.length ? from : at;
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
